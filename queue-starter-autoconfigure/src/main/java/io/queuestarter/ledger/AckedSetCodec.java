package io.queuestarter.ledger;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.Optional;
import java.util.zip.CRC32C;

/**
 * Writes the offsets settled above a watermark as the metadata of a Kafka commit, and
 * reads them back. <em>Thread-safe.</em>
 * <p>
 * The text is a mark of format and version, one letter for the encoding, and Base64url
 * without padding of a checksum and the set. The checksum covers the watermark too:
 * offsets count from there, so a text that a tool copied beside another offset, as tools
 * that translate offsets between clusters do, must not be believed. Of run lengths (pairs
 * of unsettled and settled lengths from the watermark on, as variable-length integers)
 * and a bitmap (one bit per offset from the watermark on) the shorter one is written. It
 * never exceeds the broker's default limit of 4,096 characters
 * ({@code offset.metadata.max.bytes}); what does not fit is cut off at the far end, so
 * that offsets beyond are delivered again rather than lost.
 */
public final class AckedSetCodec {

	/**
	 * Longest text written: the broker's default {@code offset.metadata.max.bytes}.
	 */
	public static final int MAX_LENGTH = 4096;

	private static final String MARK = "qs1";

	private static final char RUNS = 'r';

	private static final char BITMAP = 'b';

	private static final int CHECKSUM_BYTES = Integer.BYTES;

	private static final int MAX_BYTES = (MAX_LENGTH - MARK.length() - 1) / 4 * 3 - CHECKSUM_BYTES;

	private AckedSetCodec() {
	}

	/**
	 * Encodes a set.
	 * @param watermark the offset that is committed with the text
	 * @param settled offsets settled at or above the watermark
	 * @return the text and whether it holds the whole set; an empty text for an empty set
	 */
	public static Encoded encode(long watermark, OffsetRanges settled) {
		if (settled.isEmpty()) {
			return Encoded.NOTHING;
		}
		Bytes runs = runs(watermark, settled);
		Bytes bitmap = bitmap(watermark, settled);
		boolean useRuns = (runs.upTo() != bitmap.upTo()) ? runs.upTo() > bitmap.upTo()
				: runs.length() <= bitmap.length();
		Bytes best = useRuns ? runs : bitmap;
		char encoding = useRuns ? RUNS : BITMAP;
		ByteBuffer body = ByteBuffer.allocate(CHECKSUM_BYTES + best.length())
			.putInt(checksum(watermark, encoding, ByteBuffer.wrap(best.content(), 0, best.length())))
			.put(best.content(), 0, best.length());
		String text = new String(Base64.getUrlEncoder().withoutPadding().encode(body.array()),
				StandardCharsets.ISO_8859_1);
		return new Encoded(MARK + encoding + text, best.upTo() < settled.last(settled.size() - 1));
	}

	/**
	 * Decodes a set.
	 * @param watermark the offset that was committed with the text
	 * @param metadata the text; empty means an empty set
	 * @return the set, or nothing if the text was not written by this codec, is damaged,
	 * or was written for another watermark
	 */
	public static Optional<OffsetRanges> decode(long watermark, String metadata) {
		if (metadata.isEmpty()) {
			return Optional.of(OffsetRanges.EMPTY);
		}
		if (!metadata.startsWith(MARK) || metadata.length() <= MARK.length() + 1) {
			return Optional.empty();
		}
		try {
			char encoding = metadata.charAt(MARK.length());
			ByteBuffer body = ByteBuffer.wrap(Base64.getUrlDecoder().decode(metadata.substring(MARK.length() + 1)));
			if (body.remaining() <= CHECKSUM_BYTES || body.getInt() != checksum(watermark, encoding, body.slice())) {
				return Optional.empty();
			}
			byte[] content = new byte[body.remaining()];
			body.get(content);
			return switch (encoding) {
				case RUNS -> Optional.of(readRuns(watermark, content));
				case BITMAP -> Optional.of(readBitmap(watermark, content));
				default -> Optional.empty();
			};
		}
		catch (IllegalArgumentException | ArithmeticException ex) {
			return Optional.empty();
		}
	}

	private static int checksum(long watermark, char encoding, ByteBuffer content) {
		CRC32C checksum = new CRC32C();
		checksum.update(ByteBuffer.allocate(Long.BYTES + Character.BYTES).putLong(watermark).putChar(encoding).flip());
		checksum.update(content);
		return (int) checksum.getValue();
	}

	private static Bytes runs(long watermark, OffsetRanges settled) {
		byte[] content = new byte[Math.min(settled.size() * 4 + 20, MAX_BYTES + 20)];
		int length = 0;
		long position = watermark;
		for (int range = 0; range < settled.size(); range++) {
			if (length + 20 > content.length) {
				content = Arrays.copyOf(content, content.length * 2);
			}
			int end = writeNumber(content, length, settled.first(range) - position);
			end = writeNumber(content, end, settled.last(range) - settled.first(range) + 1);
			if (end > MAX_BYTES) {
				break;
			}
			length = end;
			position = settled.last(range) + 1;
		}
		return new Bytes(content, length, position - 1);
	}

	private static OffsetRanges readRuns(long watermark, byte[] content) {
		OffsetRanges.Builder ranges = new OffsetRanges.Builder();
		Reader reader = new Reader(content);
		long position = watermark;
		while (reader.hasMore()) {
			long first = Math.addExact(position, reader.number());
			position = Math.addExact(first, reader.number());
			ranges.add(first, position - 1);
		}
		return ranges.build();
	}

	private static Bytes bitmap(long watermark, OffsetRanges settled) {
		long span = settled.last(settled.size() - 1) - watermark + 1;
		long bits = Math.min(span, MAX_BYTES * 8L);
		byte[] content = new byte[(int) ((bits + 7) / 8)];
		long upTo = watermark - 1;
		for (int range = 0; range < settled.size(); range++) {
			long last = Math.min(settled.last(range) - watermark, bits - 1);
			for (long bit = settled.first(range) - watermark; bit <= last; bit++) {
				content[(int) (bit >>> 3)] |= (byte) (1 << (bit & 7));
				upTo = watermark + bit;
			}
		}
		return new Bytes(content, (int) ((upTo - watermark + 8) / 8), upTo);
	}

	private static OffsetRanges readBitmap(long watermark, byte[] content) {
		OffsetRanges.Builder ranges = new OffsetRanges.Builder();
		for (int bit = 0; bit < content.length * 8; bit++) {
			if ((content[bit >>> 3] & (1 << (bit & 7))) != 0) {
				ranges.add(watermark + bit, watermark + bit);
			}
		}
		return ranges.build();
	}

	private static int writeNumber(byte[] content, int at, long number) {
		int index = at;
		long rest = number;
		while ((rest & ~0x7FL) != 0) {
			content[index++] = (byte) ((rest & 0x7F) | 0x80);
			rest >>>= 7;
		}
		content[index++] = (byte) rest;
		return index;
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

	private record Bytes(byte[] content, int length, long upTo) {

	}

	private static final class Reader {

		private final byte[] content;

		private int index;

		Reader(byte[] content) {
			this.content = content;
		}

		boolean hasMore() {
			return this.index < this.content.length;
		}

		long number() {
			long number = 0;
			for (int shift = 0; shift < Long.SIZE; shift += 7) {
				if (!hasMore()) {
					break;
				}
				byte part = this.content[this.index++];
				number |= (long) (part & 0x7F) << shift;
				if (part >= 0) {
					if (number < 0) {
						break;
					}
					return number;
				}
			}
			throw new IllegalArgumentException("Not a number at byte " + this.index);
		}

	}

}
