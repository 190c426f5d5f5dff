package io.queuestarter.benchmarks.compare;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Arguments: names of scenarios, and {@code name=value}.
 */
final class Options {

	private final List<String> names = new ArrayList<>();

	private final Map<String, String> values = new HashMap<>();

	Options(String... args) {
		for (String arg : args) {
			int equals = arg.indexOf('=');
			if (equals > 0) {
				this.values.put(arg.substring(0, equals), arg.substring(equals + 1));
			}
			else {
				this.names.add(arg);
			}
		}
	}

	/** Fails if a name, or a name with a value, is not known. */
	void check(Predicate<String> known, Set<String> knownValues) {
		List<String> unknown = this.names.stream().filter(known.negate()).toList();
		if (!unknown.isEmpty()) {
			throw new IllegalArgumentException("There is no scenario " + unknown);
		}
		if (!knownValues.containsAll(this.values.keySet())) {
			throw new IllegalArgumentException(
					"Values can be given to " + knownValues + ", not to all of " + this.values.keySet());
		}
	}

	boolean has(String name) {
		return this.names.contains(name);
	}

	/** Whether something is named, or nothing at all. */
	boolean names(String name) {
		return this.names.isEmpty() || has(name);
	}

	String get(String name, String orElse) {
		return this.values.getOrDefault(name, orElse);
	}

	int get(String name, int orElse) {
		return this.values.containsKey(name) ? Integer.parseInt(this.values.get(name)) : orElse;
	}

	double get(String name, double orElse) {
		return this.values.containsKey(name) ? Double.parseDouble(this.values.get(name)) : orElse;
	}

}
