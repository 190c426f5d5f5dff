package io.queuestarter.ledger;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.Optional;
import java.util.zip.CRC32C;

/**
 * Writes the offsets settled above a watermark as the metadata of a Kafka commit, and
 * reads them back. <em>Not thread-safe</em>, except {@link #decode}.
 * <p>
 * The text is a mark of format and version, one letter for the encoding, and Base64url
 * without padding of a checksum, the end of what was begun, and the set. The checksum
 * covers the watermark too: offsets count from there, so a text that a tool copied beside
 * another offset, as tools that translate offsets between clusters do, must not be
 * believed. Of run lengths (pairs of unsettled and settled lengths from the watermark on,
 * as variable-length integers) and a bitmap (one bit per offset from the watermark on)
 * the shorter one is written.
 * <p>
 * The text never exceeds the broker's default limit of 4,096 characters
 * ({@code offset.metadata.max.bytes}). A bitmap of that length covers 24,440 offsets, so
 * a window of the default 10,000 records without gaps always fits. Of what does not fit,
 * the encoding that covers more is written and the far end is cut off: offsets beyond it
 * are delivered again rather than lost, should the partition change hands.
 */
/*
 * Encodings are written into buffers that are kept, since a commit is made of every
 * partition every second or so. Each begins with room for the checksum.
 */
public final class AckedSetCodec {

	/**
	 * Longest text written: the broker's default {@code offset.metadata.max.bytes}.
	 */
	public static final int MAX_LENGTH = 4096;

	private static final String MARK = "qs2";

	private static final char RUNS = 'r';

	private static final char BITMAP = 'b';

	private static final byte[] BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
		.getBytes(StandardCharsets.ISO_8859_1);

	private static final int CHECKSUM_BYTES = Integer.BYTES;

	private static final int MAX_BYTES = (MAX_LENGTH - MARK.length() - 1) / 4 * 3;

	/** Longest variable-length integer. */
	private static final int NUMBER_BYTES = 10;

	private final OffsetRanges.Builder ranges = new OffsetRanges.Builder();

	/** What is written beyond the limit is not used. */
	private final Encoding runs = new Encoding(MAX_BYTES + 2 * NUMBER_BYTES);

	private final Encoding bitmap = new Encoding(MAX_BYTES);

	private final Checksum checksum = new Checksum();

	private final byte[] text = new byte[MAX_LENGTH];

	/**
	 * Encodes what a ledger knows above its watermark.
	 * @param ledger the ledger
	 * @param begun offset behind the highest record that a handler was called with
	 * @return the text and whether it holds the whole set; an empty text if there is
	 * nothing to tell
	 */
	public Encoded encode(PartitionLedger<?> ledger, long begun) {
		this.ranges.clear();
		ledger.collectSettled(this.ranges);
		return encodeRanges(ledger.watermark(), begun);
	}

	/**
	 * Encodes a set.
	 * @param watermark the offset that is committed with the text
	 * @param set offsets settled at or above the watermark, and the end of what was begun
	 * @return the text and whether it holds the whole set; an empty text if there is
	 * nothing to tell
	 */
	public Encoded encode(long watermark, AckedSet set) {
		this.ranges.clear();
		this.ranges.addAllFrom(set.settled(), watermark);
		return encodeRanges(watermark, set.begun());
	}

	private Encoded encodeRanges(long watermark, long begun) {
		int count = this.ranges.size();
		if (count == 0 && begun <= watermark) {
			return Encoded.NOTHING;
		}
		Encoding best = choose(watermark, Math.max(begun - watermark, 0));
		char letter = (best == this.bitmap) ? BITMAP : RUNS;
		int sum = this.checksum.of(watermark, letter, best.content, CHECKSUM_BYTES, best.length);
		for (int i = 0; i < CHECKSUM_BYTES; i++) {
			best.content[i] = (byte) (sum >>> (Integer.SIZE - Byte.SIZE * (i + 1)));
		}
		return new Encoded(text(letter, best), count > 0 && best.upTo < this.ranges.last(count - 1));
	}

	/** A range takes at least two bytes of run lengths. */
	private Encoding choose(long watermark, long begun) {
		int count = this.ranges.size();
		long span = (count > 0) ? this.ranges.last(count - 1) - watermark + 1 : 0;
		this.bitmap.begin(begun);
		long room = (MAX_BYTES - this.bitmap.length) * 8L;
		if (span > room || span > 16L * count) {
			writeRuns(watermark, begun);
			boolean complete = this.runs.upTo == this.ranges.last(count - 1);
			if (complete && (span > room || this.runs.length <= this.bitmap.length + (span + 7) / 8)) {
				return this.runs;
			}
			if (!complete && this.runs.upTo - watermark >= room) {
				return this.runs;
			}
		}
		writeBitmap(watermark, Math.min(span, room));
		return this.bitmap;
	}

	private void writeRuns(long watermark, long begun) {
		Encoding encoding = this.runs;
		encoding.begin(begun);
		long position = watermark;
		for (int range = 0; range < this.ranges.size(); range++) {
			int start = encoding.length;
			encoding.number(this.ranges.first(range) - position);
			encoding.number(this.ranges.last(range) - this.ranges.first(range) + 1);
			if (encoding.length > MAX_BYTES) {
				encoding.length = start;
				break;
			}
			position = this.ranges.last(range) + 1;
		}
		encoding.upTo = position - 1;
	}

	/** Writes full bytes of a range at once. */
	private void writeBitmap(long watermark, long bits) {
		byte[] content = this.bitmap.content;
		int start = this.bitmap.length;
		Arrays.fill(content, start, start + (int) ((bits + 7) / 8), (byte) 0);
		long end = 0;
		for (int range = 0; range < this.ranges.size(); range++) {
			long bit = this.ranges.first(range) - watermark;
			long behind = Math.min(this.ranges.last(range) + 1 - watermark, bits);
			while (bit < behind) {
				int shift = (int) (bit & 7);
				int width = (int) Math.min(8 - shift, behind - bit);
				content[start + (int) (bit >>> 3)] |= (byte) (((1 << width) - 1) << shift);
				bit += width;
				end = bit;
			}
		}
		this.bitmap.length = start + (int) ((end + 7) / 8);
		this.bitmap.upTo = watermark + end - 1;
	}

	private String text(char letter, Encoding encoding) {
		byte[] target = this.text;
		int length = 0;
		for (int i = 0; i < MARK.length(); i++) {
			target[length++] = (byte) MARK.charAt(i);
		}
		target[length++] = (byte) letter;
		for (int i = 0; i < encoding.length; i += 3) {
			int left = Math.min(3, encoding.length - i);
			int three = (encoding.content[i] & 0xFF) << 16;
			three |= (left > 1) ? (encoding.content[i + 1] & 0xFF) << 8 : 0;
			three |= (left > 2) ? encoding.content[i + 2] & 0xFF : 0;
			for (int digit = 0; digit <= left; digit++) {
				target[length++] = BASE64[(three >>> (18 - 6 * digit)) & 0x3F];
			}
		}
		return new String(target, 0, length, StandardCharsets.ISO_8859_1);
	}

	/**
	 * Decodes a set. Thread-safe.
	 * @param watermark the offset that was committed with the text
	 * @param metadata the text; empty means an empty set
	 * @return the set, or nothing if the text was not written by this version of the
	 * codec, is damaged, or was written for another watermark
	 */
	public static Optional<AckedSet> decode(long watermark, String metadata) {
		if (metadata.isEmpty()) {
			return Optional.of(AckedSet.EMPTY);
		}
		if (!metadata.startsWith(MARK) || metadata.length() <= MARK.length() + 1) {
			return Optional.empty();
		}
		try {
			char letter = metadata.charAt(MARK.length());
			byte[] body = Base64.getUrlDecoder().decode(metadata.substring(MARK.length() + 1));
			if (body.length <= CHECKSUM_BYTES || ByteBuffer.wrap(body).getInt() != new Checksum().of(watermark, letter,
					body, CHECKSUM_BYTES, body.length)) {
				return Optional.empty();
			}
			Reader reader = new Reader(body, CHECKSUM_BYTES);
			long begun = Math.addExact(watermark, reader.number());
			return switch (letter) {
				case RUNS -> Optional.of(new AckedSet(readRuns(watermark, reader), begun));
				case BITMAP -> Optional.of(new AckedSet(readBitmap(watermark, reader), begun));
				default -> Optional.empty();
			};
		}
		catch (IllegalArgumentException | ArithmeticException ex) {
			return Optional.empty();
		}
	}

	private static OffsetRanges readRuns(long watermark, Reader reader) {
		OffsetRanges.Builder ranges = new OffsetRanges.Builder();
		long position = watermark;
		while (reader.hasMore()) {
			long first = Math.addExact(position, reader.number());
			position = Math.addExact(first, reader.number());
			ranges.add(first, position - 1);
		}
		return ranges.build();
	}

	private static OffsetRanges readBitmap(long watermark, Reader reader) {
		OffsetRanges.Builder ranges = new OffsetRanges.Builder();
		for (long offset = watermark; reader.hasMore(); offset = Math.addExact(offset, 8L)) {
			byte bits = reader.next();
			for (int bit = 0; bit < 8; bit++) {
				if ((bits & (1 << bit)) != 0) {
					ranges.add(offset + bit, offset + bit);
				}
			}
		}
		return ranges.build();
	}

	/**
	 * An encoded set.
	 *
	 * @param text the commit metadata
	 * @param truncated whether settled offsets at the far end did not fit
	 */
	public record Encoded(String text, boolean truncated) {

		static final Encoded NOTHING = new Encoded("", false);

	}

	/** One way to write the set, as far as there is room. */
	private static final class Encoding {

		private final byte[] content;

		private int length;

		/** Highest offset that is told of, settled or not. */
		private long upTo;

		Encoding(int size) {
			this.content = new byte[size];
		}

		void begin(long begun) {
			this.length = CHECKSUM_BYTES;
			number(begun);
		}

		void number(long number) {
			long rest = number;
			while ((rest & ~0x7FL) != 0) {
				this.content[this.length++] = (byte) ((rest & 0x7F) | 0x80);
				rest >>>= 7;
			}
			this.content[this.length++] = (byte) rest;
		}

	}

	private static final class Checksum {

		private final CRC32C crc = new CRC32C();

		private final byte[] context = new byte[Long.BYTES + Character.BYTES];

		int of(long watermark, char letter, byte[] content, int from, int to) {
			ByteBuffer.wrap(this.context).putLong(watermark).putChar(letter);
			this.crc.reset();
			this.crc.update(this.context, 0, this.context.length);
			this.crc.update(content, from, to - from);
			return (int) this.crc.getValue();
		}

	}

	private static final class Reader {

		private final byte[] content;

		private int index;

		Reader(byte[] content, int index) {
			this.content = content;
			this.index = index;
		}

		boolean hasMore() {
			return this.index < this.content.length;
		}

		byte next() {
			return this.content[this.index++];
		}

		long number() {
			long number = 0;
			for (int shift = 0; shift < Long.SIZE && hasMore(); shift += 7) {
				byte part = next();
				number |= (long) (part & 0x7F) << shift;
				if (part >= 0 && number >= 0) {
					return number;
				}
			}
			throw new IllegalArgumentException("Not a number at byte " + this.index);
		}

	}

}
