package io.queuestarter.browse;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * Reads facts from the headers of a dead letter. A header that is not what its writer
 * would have written is as good as absent. Of several headers of a name the last one
 * counts: it is of the last time that the record was dead-lettered.
 */
final class LetterHeaders {

	private final Headers headers;

	LetterHeaders(Headers headers) {
		this.headers = headers;
	}

	/** Text of the first of these headers that has one. */
	@Nullable String text(String... names) {
		for (String name : names) {
			byte[] value = bytes(name);
			String text = (value != null) ? textOf(value) : null;
			if (text != null && !text.isEmpty()) {
				return text;
			}
		}
		return null;
	}

	/** Partition: four bytes, big endian, not negative. */
	@Nullable Integer fourBytes(String... names) {
		for (String name : names) {
			byte[] value = bytes(name);
			if (value != null && value.length == Integer.BYTES && value[0] >= 0) {
				return ByteBuffer.wrap(value).getInt();
			}
		}
		return null;
	}

	/** Offset or time: eight bytes, big endian, not negative. */
	@Nullable Long eightBytes(String... names) {
		for (String name : names) {
			byte[] value = bytes(name);
			if (value != null && value.length == Long.BYTES && value[0] >= 0) {
				return ByteBuffer.wrap(value).getLong();
			}
		}
		return null;
	}

	/** Number of as many bytes as it needs, as Spring Kafka's retry topics write it. */
	@Nullable Long anyBytes(String name) {
		byte[] value = bytes(name);
		if (value == null || value.length == 0 || value.length > Long.BYTES || value[0] < 0) {
			return null;
		}
		return new BigInteger(value).longValueExact();
	}

	/** Count in decimal digits, or -1. */
	int decimal(String name) {
		byte[] value = bytes(name);
		if (value == null || value.length < 1 || value.length > 9) {
			return -1;
		}
		int number = 0;
		for (byte digit : value) {
			if (digit < '0' || digit > '9') {
				return -1;
			}
			number = 10 * number + digit - '0';
		}
		return number;
	}

	private byte @Nullable [] bytes(String name) {
		Header header = this.headers.lastHeader(name);
		return (header != null) ? header.value() : null;
	}

	/** Null if it is no UTF-8. */
	static @Nullable String textOf(byte[] bytes) {
		try {
			return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
		}
		catch (CharacterCodingException ex) {
			return null;
		}
	}

}
