package io.queuestarter.actuate;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import io.queuestarter.browse.InvalidParameterException;
import io.queuestarter.browse.LetterFilter;
import io.queuestarter.container.Queue;
import io.queuestarter.jobs.Edit;

/**
 * What an operator has sent to act on dead letters. Nothing of it is guessed: what is not
 * understood is refused.
 */
final class ActionParameters {

	private static final Pattern ONE_LETTER = Pattern.compile("(?:[a-zA-Z0-9._-]{1,249}-)?[0-9]{1,9}@[0-9]{1,18}");

	private final Map<String, @Nullable String> given;

	ActionParameters(Map<String, @Nullable String> given) {
		this.given = given;
		refuseBlank();
	}

	/**
	 * A script whose variable is empty must not mean everything. An empty value is a
	 * value.
	 */
	private void refuseBlank() {
		this.given.forEach((name, text) -> {
			if (text != null && text.isBlank() && !name.equals("value")) {
				throw new InvalidParameterException(name, text, List.of("something; leave it out if nothing is meant"));
			}
		});
	}

	@Nullable String text(String name) {
		String text = this.given.get(name);
		return (text != null && !text.isBlank()) ? text : null;
	}

	String text(String name, String otherwise) {
		String text = text(name);
		return (text != null) ? text : otherwise;
	}

	String required(String name, List<String> allowed) {
		String text = text(name);
		if (text == null) {
			throw new InvalidParameterException(name, "", allowed);
		}
		return text;
	}

	boolean flag(String name, boolean otherwise) {
		String text = text(name, Boolean.toString(otherwise));
		if (!text.equals("true") && !text.equals("false")) {
			throw new InvalidParameterException(name, text, List.of("true", "false"));
		}
		return text.equals("true");
	}

	long number(String name, long otherwise, long least, long most) {
		String text = text(name);
		if (text == null) {
			return otherwise;
		}
		long number = text.matches("[0-9]{1,18}") ? Long.parseLong(text) : -1;
		if (number < least || number > most) {
			throw new InvalidParameterException(name, text,
					List.of("a whole number from " + least + ((most < Long.MAX_VALUE) ? " to " + most : " on")));
		}
		return number;
	}

	void refuse(String why, String... names) {
		for (String name : names) {
			String text = text(name);
			if (text != null) {
				throw new InvalidParameterException(name, text, List.of(why));
			}
		}
	}

	void refuseFilters(String why) {
		refuse(why, LetterFilter.PARAMETERS.stream().map(ActionParameters::parameter).toArray(String[]::new));
	}

	/** In a request that acts, {@code reason} says why. */
	private static String parameter(String condition) {
		return condition.equals("reason") ? "deadLetterReason" : condition;
	}

	LetterFilter filter(Queue queue) {
		Map<String, @Nullable String> conditions = new HashMap<>();
		for (String condition : LetterFilter.PARAMETERS) {
			conditions.put(condition, text(parameter(condition)));
		}
		String topic = conditions.get("topic");
		if (topic != null && !queue.deadLetterTopics().contains(topic)) {
			throw new InvalidParameterException("topic", topic, List.copyOf(new TreeSet<>(queue.deadLetterTopics())));
		}
		try {
			return LetterFilter.parse(conditions, queue.settings().lanes().rules());
		}
		catch (InvalidParameterException ex) {
			throw new InvalidParameterException(parameter(ex.getParameter()), ex.getValue(), ex.getAllowed());
		}
	}

	/** A partition and an offset are one dead letter only if there is one topic. */
	void requireOneLetter(Queue queue) {
		String offsets = text("offsets", "").trim();
		boolean named = text("topic") != null || offsets.lastIndexOf('-') > 0;
		if (!ONE_LETTER.matcher(offsets).matches() || (!named && queue.deadLetterTopics().size() > 1)) {
			throw new InvalidParameterException("offsets", offsets,
					new TreeSet<>(queue.deadLetterTopics()).stream()
						.map((topic) -> "one dead letter, such as " + topic + "-0@88")
						.toList());
		}
	}

	/** An empty value is a value. */
	Edit edit() {
		String value = this.given.get("value");
		Map<String, @Nullable String> headers = new LinkedHashMap<>();
		List<String> lines = new ArrayList<>(List.of(text("headers", "").split("\n")));
		lines.removeIf(String::isBlank);
		for (String line : lines) {
			int separator = line.indexOf('=');
			String name = ((separator < 0) ? line : line.substring(0, separator)).trim();
			if (name.isEmpty() || name.startsWith("kafka_")) {
				throw new InvalidParameterException("headers", line, List.of("name=value to set a header, name to "
						+ "take it out, one a line; none that begins with 'kafka_'"));
			}
			headers.put(name, (separator < 0) ? null : line.substring(separator + 1));
		}
		if (value == null && headers.isEmpty()) {
			throw new InvalidParameterException("value", "", List.of("the new value, or new headers"));
		}
		return new Edit((value != null) ? value.getBytes(StandardCharsets.UTF_8) : null, headers);
	}

}
