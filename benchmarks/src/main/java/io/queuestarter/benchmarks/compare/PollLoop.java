package io.queuestarter.benchmarks.compare;

import java.util.concurrent.atomic.AtomicBoolean;

import org.apache.kafka.common.errors.InterruptException;

/**
 * A thread that polls until it is stopped.
 */
final class PollLoop {

	private final AtomicBoolean stopped = new AtomicBoolean();

	private final Thread thread;

	private PollLoop(String name, Turn turn, Runnable end) {
		this.thread = new Thread(() -> run(turn, end), name);
		this.thread.setDaemon(true);
	}

	static PollLoop start(String name, Turn turn, Runnable end) {
		PollLoop loop = new PollLoop(name, turn, end);
		loop.thread.start();
		return loop;
	}

	private void run(Turn turn, Runnable end) {
		try {
			while (!this.stopped.get()) {
				turn.run();
			}
		}
		catch (InterruptedException | InterruptException ex) {
			// Asked to stop.
		}
		finally {
			end.run();
		}
	}

	Thread thread() {
		return this.thread;
	}

	void stop() {
		this.stopped.set(true);
		try {
			this.thread.join(10_000);
			this.thread.interrupt();
			this.thread.join(5_000);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/**
	 * One poll and what follows from it.
	 */
	interface Turn {

		void run() throws InterruptedException;

	}

}
