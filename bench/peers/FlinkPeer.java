// One pattern of FlinkCEP over a file of trades: how many matches, in how many processor seconds. Started by bench.registers.
//   javac -cp 'JARS/*' FlinkPeer.java; java -cp '.:JARS/*' FlinkPeer EVENTS_CSV STEPS_FILE ROUNDS
// A line of STEPS is `name;type;symbol;lowest;highest;operator;register`; the first line is the window in milliseconds.

import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.cep.CEP;
import org.apache.flink.cep.functions.PatternProcessFunction;
import org.apache.flink.cep.pattern.Pattern;
import org.apache.flink.cep.pattern.conditions.IterativeCondition;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.streaming.api.functions.source.legacy.SourceFunction;
import org.apache.flink.util.Collector;

public class FlinkPeer {
    static final AtomicLong FOUND = new AtomicLong();
    static List<Trade> trades = new ArrayList<>();

    public static class Trade {
        public String type, name;
        public double price;
        public long time;

        public Trade() {}
    }

    public static class Trades implements SourceFunction<Trade> {
        @Override
        public void run(SourceContext<Trade> context) {
            for (Trade trade : trades) context.collect(trade);
        }

        @Override
        public void cancel() {}
    }

    public static class Holds extends IterativeCondition<Trade> {
        final String type, symbol, operator, register;
        final double lowest, highest;

        Holds(String[] cells) {
            type = cells[1];
            symbol = cells[2];
            lowest = cells[3].isEmpty() ? Double.NEGATIVE_INFINITY : Double.parseDouble(cells[3]);
            highest = cells[4].isEmpty() ? Double.POSITIVE_INFINITY : Double.parseDouble(cells[4]);
            operator = cells[5];
            register = cells[6];
        }

        @Override
        public boolean filter(Trade trade, Context<Trade> context) throws Exception {
            boolean plain = (type.isEmpty() || trade.type.equals(type)) && trade.name.equals(symbol)
                && trade.price > lowest && trade.price < highest;
            if (!plain || operator.isEmpty()) return plain;
            for (Trade kept : context.getEventsForPattern(register)) {
                return operator.equals(">") ? trade.price > kept.price : trade.price < kept.price;
            }
            return false;
        }
    }

    static double cpuSeconds() {
        var bean = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        return bean.getProcessCpuTime() / 1e9;
    }

    public static void main(String[] arguments) throws Exception {
        for (String line : Files.readAllLines(Path.of(arguments[0]))) {
            String[] cells = line.split(",");
            Trade trade = new Trade();
            trade.type = cells[0];
            trade.name = cells[1];
            trade.price = Double.parseDouble(cells[2]);
            trade.time = Long.parseLong(cells[3]);
            trades.add(trade);
        }
        List<String> steps = Files.readAllLines(Path.of(arguments[1]));
        for (int round = 0; round < Integer.parseInt(arguments[2]); round++) {
            FOUND.set(0);
            var environment = StreamExecutionEnvironment.createLocalEnvironment(1, new Configuration());
            Pattern<Trade, ?> pattern = null;
            for (String step : steps.subList(1, steps.size())) {
                String[] cells = step.split(";", -1);
                Pattern<Trade, Trade> next = pattern == null ? Pattern.begin(cells[0]) : pattern.followedByAny(cells[0]);
                pattern = next.where(new Holds(cells));
            }
            pattern = pattern.within(Duration.ofMillis(Long.parseLong(steps.get(0)) + 1));
            var stream = environment.addSource(new Trades()).returns(Trade.class).assignTimestampsAndWatermarks(
                WatermarkStrategy.<Trade>forMonotonousTimestamps().withTimestampAssigner((trade, old) -> trade.time));
            CEP.pattern(stream, (Pattern<Trade, Trade>) pattern).process(new PatternProcessFunction<Trade, Long>() {
                @Override
                public void processMatch(Map<String, List<Trade>> match, Context context, Collector<Long> out) {
                    FOUND.incrementAndGet();
                }
            }).returns(Long.class).sinkTo(new DiscardingSink<>());
            double cpu = cpuSeconds();
            long wall = System.nanoTime();
            environment.execute();
            System.out.println("{\"matches\": " + FOUND.get() + ", \"cpu_s\": " + (cpuSeconds() - cpu) + ", \"wall_s\": "
                + (System.nanoTime() - wall) / 1e9 + "}");
        }
    }
}
