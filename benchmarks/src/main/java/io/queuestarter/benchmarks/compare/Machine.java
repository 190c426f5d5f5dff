package io.queuestarter.benchmarks.compare;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.stream.Stream;

import com.sun.management.OperatingSystemMXBean;
import org.apache.kafka.common.utils.AppInfoParser;

/**
 * What the measurements were made on.
 *
 * @param processor name of the processor
 * @param processors number of processors that this process may use
 * @param gigabytes size of the memory
 * @param system operating system
 * @param java version of Java, and whether handlers run on virtual threads
 * @param kafka version of Kafka's client
 * @param commit commit of the working copy
 * @param date the day
 */
record Machine(String processor, int processors, long gigabytes, String system, String java, String kafka,
		String commit, String date) {

	static Machine here() {
		OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
		return new Machine(readProcessor(), Runtime.getRuntime().availableProcessors(),
				Math.round(system.getTotalMemorySize() / 1e9),
				System.getProperty("os.name") + " " + System.getProperty("os.version"),
				System.getProperty("java.version") + ", " + System.getProperty("java.vendor") + ", "
						+ (Workers.areVirtual() ? "virtual threads" : "platform threads"),
				AppInfoParser.getVersion(), readCommit(), LocalDate.now(ZoneOffset.UTC).toString());
	}

	private static String readProcessor() {
		try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
			return lines.filter((line) -> line.startsWith("model name"))
				.findFirst()
				.map((line) -> line.substring(line.indexOf(':') + 1).trim())
				.orElse(System.getProperty("os.arch"));
		}
		catch (IOException ex) {
			return System.getProperty("os.arch");
		}
	}

	private static String readCommit() {
		try {
			Process git = new ProcessBuilder("git", "describe", "--always", "--dirty").start();
			String commit = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8).trim();
			return commit.isEmpty() ? "unknown" : commit;
		}
		catch (IOException ex) {
			return "unknown";
		}
	}

	@Override
	public String toString() {
		return String.format("%s, %d processors, %d GB, %s; Java %s; Kafka %s; commit %s; %s", this.processor,
				this.processors, this.gigabytes, this.system, this.java, this.kafka, this.commit, this.date);
	}

}
