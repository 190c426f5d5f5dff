package io.queuestarter.context;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * Maps the value of a header to a name. Values are compared as they are, and one that is
 * not text matches no pattern, and one that is too long for a pattern has no name; a
 * header with the value {@code null} counts as absent. <em>Immutable.</em>
 */
public final class HeaderNames {

	/** What a string has for bytes that are not text. */
	private static final char NO_TEXT = '\uFFFD';

	private final String header;

	private final Map<String, String> names = new LinkedHashMap<>();

	private final Map<String, Pattern> patterns = new LinkedHashMap<>();

	private final @Nullable String unknown;

	/**
	 * Creates a mapping.
	 * @param header key of the header
	 * @param rules values by name; a name without a rule stands for the value that equals
	 * it
	 * @param unknown name of all values that are not mapped to exactly one name, and of
	 * records that have the header several times with different names; or {@code null} to
	 * take an unmapped value for a name
	 * @throws IllegalArgumentException if a value has several names
	 */
	public HeaderNames(String header, Map<String, Values> rules, @Nullable String unknown) {
		this.header = header;
		this.unknown = unknown;
		rules.forEach((name, values) -> {
			if (values.pattern() != null) {
				this.patterns.put(name, values.pattern());
			}
			for (String value : values.of(name)) {
				String other = this.names.put(value, name);
				if (other != null && !other.equals(name)) {
					throw new IllegalArgumentException(
							"value '" + value + "' belongs to both '" + other + "' and '" + name + "'");
				}
			}
		});
	}

	/**
	 * Key of the header.
	 * @return the key
	 */
	public String header() {
		return this.header;
	}

	/**
	 * Name that the headers of a record stand for.
	 * @param headers the headers
	 * @return the name, or {@code null} if the header is absent
	 */
	public @Nullable String nameIn(Headers headers) {
		String found = null;
		for (Header candidate : headers.toArray()) {
			if (candidate.key().equals(this.header) && candidate.value() != null) {
				String name = nameOf(new String(candidate.value(), StandardCharsets.UTF_8));
				if (found != null && !found.equals(name)) {
					return this.unknown;
				}
				found = name;
			}
		}
		return found;
	}

	private @Nullable String nameOf(String value) {
		String name = this.names.get(value);
		if (name != null) {
			return name;
		}
		boolean isText = value.indexOf(NO_TEXT) < 0;
		try {
			for (Map.Entry<String, Pattern> rule : this.patterns.entrySet()) {
				if (isText && rule.getValue().matcher(value).matches()) {
					if (name != null) {
						return this.unknown;
					}
					name = rule.getKey();
				}
			}
		}
		catch (StackOverflowError ex) {
			// A long value and a pattern that repeats alternatives: nobody can tell.
			return this.unknown;
		}
		return (name != null || this.unknown != null) ? ((name != null) ? name : this.unknown) : value;
	}

	/**
	 * Values of a header that stand for one name.
	 *
	 * @param exact the values
	 * @param pattern what further values match as a whole, or {@code null} for none
	 */
	public record Values(List<String> exact, @Nullable Pattern pattern) {

		List<String> of(String name) {
			return (this.exact.isEmpty() && this.pattern == null) ? List.of(name) : this.exact;
		}

	}

}
