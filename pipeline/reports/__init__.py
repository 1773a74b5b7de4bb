"""Reports for people: pages with maps and plots that need nothing but a browser, and stay readable offline."""
