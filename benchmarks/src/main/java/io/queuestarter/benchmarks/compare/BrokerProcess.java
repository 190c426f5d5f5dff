package io.queuestarter.benchmarks.compare;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * The process of a {@link Broker}.
 */
final class BrokerProcess implements AutoCloseable {

	private final Process process;

	private final String address;

	private BrokerProcess(Process process, String address) {
		this.process = process;
		this.address = address;
	}

	static BrokerProcess start() {
		try {
			Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
					"-Xmx2g", "-classpath", System.getProperty("java.class.path"), Broker.class.getName())
				.redirectError(ProcessBuilder.Redirect.INHERIT)
				.start();
			return new BrokerProcess(process, address(process));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static String address(Process process) throws IOException {
		BufferedReader reader = process.inputReader(StandardCharsets.UTF_8);
		for (String line = reader.readLine(); line != null; line = reader.readLine()) {
			if (line.startsWith(Broker.READY)) {
				return line.substring(Broker.READY.length());
			}
		}
		throw new IllegalStateException("The broker did not start");
	}

	String address() {
		return this.address;
	}

	@Override
	public void close() {
		try {
			this.process.getOutputStream().close();
			if (!this.process.waitFor(20, TimeUnit.SECONDS)) {
				this.process.destroyForcibly();
			}
		}
		catch (IOException | InterruptedException ex) {
			this.process.destroyForcibly();
		}
	}

}
