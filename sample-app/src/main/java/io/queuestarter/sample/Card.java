package io.queuestarter.sample;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/**
 * Card a trip is paid with; each has a provider of its own.
 */
enum Card {

	VISA("Visa"), MASTERCARD("Mastercard");

	private final String label;

	Card(String label) {
		this.label = label;
	}

	String label() {
		return this.label;
	}

	/** Name in an address: {@code visa}. */
	String path() {
		return name().toLowerCase(Locale.ROOT);
	}

	static Optional<Card> find(String path) {
		return Arrays.stream(values()).filter((card) -> card.path().equals(path)).findFirst();
	}

}
