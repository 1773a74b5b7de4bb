// One statement of Esper over a file of trades: how many matches, in how many processor seconds. Started by bench.registers.
//   javac -cp 'JARS/*' EsperPeer.java; java -cp '.:JARS/*' EsperPeer EVENTS_CSV STATEMENT_FILE ROUNDS

import com.espertech.esper.common.client.EPCompiled;
import com.espertech.esper.common.client.configuration.Configuration;
import com.espertech.esper.compiler.client.CompilerArguments;
import com.espertech.esper.compiler.client.EPCompilerProvider;
import com.espertech.esper.runtime.client.EPRuntime;
import com.espertech.esper.runtime.client.EPRuntimeProvider;
import com.espertech.esper.runtime.client.EPStatement;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

public class EsperPeer {
    public static class Trade {
        private final String type, name;
        private final double price;
        private final long time;

        Trade(String type, String name, double price, long time) {
            this.type = type;
            this.name = name;
            this.price = price;
            this.time = time;
        }

        public String getType() { return type; }
        public String getName() { return name; }
        public double getPrice() { return price; }
        public long getTime() { return time; }
    }

    static double cpuSeconds() {
        var bean = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        return bean.getProcessCpuTime() / 1e9;
    }

    public static void main(String[] arguments) throws Exception {
        List<Trade> trades = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of(arguments[0]))) {
            String[] cells = line.split(",");
            trades.add(new Trade(cells[0], cells[1], Double.parseDouble(cells[2]), Long.parseLong(cells[3])));
        }
        String statement = Files.readString(Path.of(arguments[1]));
        for (int round = 0; round < Integer.parseInt(arguments[2]); round++) {
            Configuration configuration = new Configuration();
            configuration.getCommon().addEventType(Trade.class);
            configuration.getRuntime().getThreading().setInternalTimerEnabled(false);
            EPCompiled compiled = EPCompilerProvider.getCompiler().compile(statement, new CompilerArguments(configuration));
            EPRuntime runtime = EPRuntimeProvider.getRuntime("round" + round, configuration);
            runtime.initialize();
            runtime.getEventService().advanceTime(0);
            EPStatement deployed = runtime.getDeploymentService().deploy(compiled).getStatements()[0];
            long[] found = {0};
            deployed.addListener((fresh, old, which, of) -> found[0] += fresh == null ? 0 : fresh.length);
            double cpu = cpuSeconds();
            long wall = System.nanoTime();
            for (Trade trade : trades) {
                runtime.getEventService().advanceTime(trade.getTime());
                runtime.getEventService().sendEventBean(trade, "Trade");
            }
            System.out.println("{\"matches\": " + found[0] + ", \"cpu_s\": " + (cpuSeconds() - cpu) + ", \"wall_s\": "
                + (System.nanoTime() - wall) / 1e9 + "}");
            runtime.destroy();
        }
    }
}
