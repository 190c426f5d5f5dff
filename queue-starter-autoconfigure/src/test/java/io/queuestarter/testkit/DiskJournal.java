package io.queuestarter.testkit;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import com.google.errorprone.annotations.concurrent.GuardedBy;

import io.queuestarter.ledger.AckedSet;
import io.queuestarter.ledger.AckedSetCodec;
import io.queuestarter.ledger.OffsetRanges;

/**
 * What a worker process did, line by line in a file. Each line is with the operating
 * system before its method returns, so it outlives the process. <em>Thread-safe.</em>
 */
public final class DiskJournal implements AutoCloseable {

	private final Object lock = new Object();

	@GuardedBy("lock")
	private final FileOutputStream file;

	DiskJournal(Path path) throws IOException {
		this.file = new FileOutputStream(path.toFile(), true);
	}

	/** Writes a line. */
	void note(Event event, int partition, long offset, String text) {
		synchronized (this.lock) {
			String line = micros(Instant.now()) + " " + event + " " + partition + " " + offset + " " + text + "\n";
			try {
				this.file.write(line.getBytes(StandardCharsets.UTF_8));
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}
	}

	@Override
	public void close() throws IOException {
		synchronized (this.lock) {
			this.file.close();
		}
	}

	/** Reads the lines so far. */
	static List<Line> read(Path path, int process) {
		List<Line> lines = new ArrayList<>();
		try {
			String content = Files.exists(path) ? Files.readString(path) : "";
			// A line that is not complete is one that is being written.
			content.substring(0, content.lastIndexOf('\n') + 1)
				.lines()
				.forEach((line) -> lines.add(Line.parse(process, line)));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return lines;
	}

	/** Microseconds since the epoch, which all processes of the machine agree on. */
	static long micros(Instant time) {
		return Duration.between(Instant.EPOCH, time).toNanos() / 1000;
	}

	/**
	 * What a line tells.
	 */
	public enum Event {

		/** A handler begins with a record. */
		STARTED,

		/** A handler is about to return; the text is the value of the record. */
		ENDED,

		/** A commit is sent. */
		COMMITTING,

		/** The broker acknowledged a commit; the text is its metadata. */
		COMMITTED,

		/** The partition was assigned to the process. */
		ASSIGNED,

		/** The partition was revoked from the process, or lost. */
		REVOKED,

		/** The meter of redelivered records changed; the offset is its value. */
		COUNTED

	}

	/**
	 * One line.
	 *
	 * @param process number of the process, in order of their start
	 * @param micros when it was written
	 * @param event what it tells
	 * @param partition number of the partition
	 * @param offset offset of the record or commit
	 * @param text value of the record, or metadata of the commit
	 */
	public record Line(int process, long micros, Event event, int partition, long offset, String text) {

		static Line parse(int process, String line) {
			String[] parts = line.split(" ", 5);
			return new Line(process, Long.parseLong(parts[0]), Event.valueOf(parts[1]), Integer.parseInt(parts[2]),
					Long.parseLong(parts[3]), parts[4]);
		}

		/** Of a commit: the offsets that it says are settled above the watermark. */
		OffsetRanges settledAbove() {
			return AckedSetCodec.decode(this.offset, this.text).orElse(AckedSet.EMPTY).settled();
		}

	}

}
