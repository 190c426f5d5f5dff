package io.queuestarter.browse;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import org.jspecify.annotations.Nullable;

/**
 * Text that is looked for in bytes. They are compared as UTF-8, in which the bytes of a
 * text are found exactly where the text is.
 */
final class Text {

	private final byte[] bytes;

	Text(String text) {
		this.bytes = text.getBytes(StandardCharsets.UTF_8);
	}

	boolean isAllOf(byte @Nullable [] content) {
		return Arrays.equals(this.bytes, content);
	}

	boolean isPartOf(byte @Nullable [] content) {
		if (content == null) {
			return false;
		}
		int length = this.bytes.length;
		for (int start = 0; start <= content.length - length; start++) {
			if (Arrays.equals(this.bytes, 0, length, content, start, start + length)) {
				return true;
			}
		}
		return false;
	}

}
