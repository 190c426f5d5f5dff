package io.queuestarter.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * A JVM beside that of the tests, with their class path. It ends with its
 * {@link #close()}, or at the latest with the tests' JVM. <em>Thread-safe.</em>
 */
public final class ChildJvm implements AutoCloseable {

	private static final long LIMIT_SECONDS = 60;

	private static final Set<Process> ALIVE = ConcurrentHashMap.newKeySet();

	static {
		Runtime.getRuntime().addShutdownHook(new Thread(() -> ALIVE.forEach(Process::destroyForcibly)));
	}

	private final Process process;

	private final Path output;

	private ChildJvm(Process process, Path output) {
		this.process = process;
		this.output = output;
	}

	/** Starts the main class with arguments; what it prints is appended to a file. */
	static ChildJvm start(Class<?> main, Path output, List<String> arguments) {
		List<String> command = new ArrayList<>();
		command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
		command.addAll(List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp",
				System.getProperty("java.class.path"), main.getName()));
		command.addAll(arguments);
		try {
			Process process = new ProcessBuilder(command).redirectErrorStream(true)
				.redirectOutput(ProcessBuilder.Redirect.appendTo(output.toFile()))
				.start();
			ALIVE.add(process);
			process.onExit().thenAccept(ALIVE::remove);
			return new ChildJvm(process, output);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Called first by main classes: ends this JVM when the one that started it is gone,
	 * even if that was killed.
	 */
	static void endWithParent() {
		Thread watch = new Thread(() -> {
			try {
				while (System.in.read() >= 0) {
					// Nobody writes; the end of the stream is the parent's end.
				}
			}
			catch (IOException ex) {
				// The same.
			}
			Runtime.getRuntime().halt(1);
		}, "parent-watch");
		watch.setDaemon(true);
		watch.start();
	}

	/** Whether the process has not ended. */
	public boolean isAlive() {
		return this.process.isAlive();
	}

	/** Ends the process without a warning, and waits for its end. */
	public void kill() {
		this.process.destroyForcibly();
		awaitEnd();
	}

	/** Asks the process to end. */
	public void terminate() {
		// By its handle, since the process would close the stream that endWithParent
		// reads.
		this.process.toHandle().destroy();
	}

	/** Waits for the end of the process. */
	public void awaitEnd() {
		try {
			if (!this.process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
				throw new IllegalStateException("Does not end: " + this.process);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	/** Stops all threads of the process where they are. */
	public void freeze() {
		signal("STOP");
	}

	/** Lets the threads of the process go on. */
	public void thaw() {
		signal("CONT");
	}

	private void signal(String name) {
		try {
			Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(this.process.pid())).inheritIO()
				.start();
			if (kill.waitFor() != 0) {
				throw new IllegalStateException("No " + name + " for " + this.process);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	/** What the process has printed. */
	public String output() {
		try {
			return Files.readString(this.output);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public void close() {
		kill();
	}

}
