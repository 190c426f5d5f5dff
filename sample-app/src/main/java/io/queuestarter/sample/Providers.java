package io.queuestarter.sample;

import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import org.springframework.stereotype.Component;

/**
 * The providers, one a card.
 */
@Component
final class Providers {

	private final Map<Card, Provider> providers = new EnumMap<>(Card.class);

	Providers(DemoProperties demo) {
		for (Card card : Card.values()) {
			this.providers.put(card, new Provider(card, demo.fast()));
		}
	}

	Provider of(Card card) {
		return Objects.requireNonNull(this.providers.get(card));
	}

	/** Gives all providers the same latency and no failures. */
	void calm(Duration latency) {
		this.providers.values().forEach((provider) -> provider.set(latency, 0));
	}

	List<Provider.State> states() {
		return this.providers.values().stream().map(Provider::state).toList();
	}

	/** Calls under way. */
	int running() {
		return states().stream().mapToInt(Provider.State::running).sum();
	}

}
