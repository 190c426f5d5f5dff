package io.queuestarter.actuate;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;

import org.jspecify.annotations.Nullable;

/**
 * Begin of some content, as text or in base64.
 *
 * @param text what is shown, or {@code null} if there is no content
 * @param encoding {@code base64}, or {@code null} if it is text
 * @param truncated whether there is more
 */
record Excerpt(@Nullable String text, @Nullable String encoding, boolean truncated) {

	static final String HIDDEN_TEXT = "***";

	static final Excerpt NOTHING = new Excerpt(null, null, false);

	static final Excerpt HIDDEN = new Excerpt(HIDDEN_TEXT, null, false);

	static Excerpt ofText(String text, int window) {
		if (text.length() <= window) {
			return new Excerpt(text, null, false);
		}
		int end = Character.isHighSurrogate(text.charAt(window - 1)) ? window - 1 : window;
		return new Excerpt(text.substring(0, end), null, true);
	}

	static Excerpt ofBytes(byte[] content, int window) {
		byte[] begin = (content.length <= window) ? content : Arrays.copyOf(content, window);
		return new Excerpt(Base64.getEncoder().encodeToString(begin), "base64", content.length > window);
	}

	/** Null if the content is no text that can be shown. */
	static @Nullable String textOf(byte[] content) {
		try {
			String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(content)).toString();
			return text.chars().allMatch(Excerpt::isPrintable) ? text : null;
		}
		catch (CharacterCodingException ex) {
			return null;
		}
	}

	private static boolean isPrintable(int character) {
		return !Character.isISOControl(character) || character == '\n' || character == '\r' || character == '\t';
	}

}
