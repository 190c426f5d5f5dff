package io.queuestarter.sample;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/**
 * Shows the providers and makes them slow or unreliable while the application runs.
 */
@RestController
@RequestMapping("/providers")
class ProvidersController {

	private static final Duration MAX_LATENCY = Duration.ofMinutes(1);

	private final Providers providers;

	ProvidersController(Providers providers) {
		this.providers = providers;
	}

	@GetMapping
	List<Provider.State> list() {
		return this.providers.states();
	}

	@PostMapping("/{name}")
	Provider.State change(@PathVariable String name, @RequestParam Map<String, String> change) {
		Provider provider = find(name);
		Set<String> unknown = new HashSet<>(change.keySet());
		unknown.removeAll(Set.of("latency", "failures"));
		if (change.isEmpty() || !unknown.isEmpty()) {
			throw badRequest("Give 'latency' or 'failures', for instance latency=2s&failures=0.1"
					+ (unknown.isEmpty() ? "" : "; unknown: " + String.join(", ", unknown)));
		}
		Provider.State before = provider.state();
		String latency = change.get("latency");
		String failures = change.get("failures");
		provider.set((latency != null) ? latency(latency) : before.latency(),
				(failures != null) ? failures(failures) : before.failures());
		return provider.state();
	}

	@PostMapping(path = "/{name}", consumes = MediaType.APPLICATION_JSON_VALUE)
	Provider.State changeByJson(@PathVariable String name, @RequestBody Map<String, @Nullable Object> change) {
		Map<String, String> text = new HashMap<>();
		change.forEach((key, value) -> text.put(key, String.valueOf(value)));
		return change(name, text);
	}

	private Provider find(String name) {
		return Card.find(name)
			.map(this.providers::of)
			.orElseThrow(() -> new ResponseStatusException(HttpStatus.NOT_FOUND,
					"There is no provider '" + name + "', only visa and mastercard"));
	}

	private static Duration latency(String text) {
		Duration latency;
		try {
			latency = DurationStyle.detectAndParse(text.trim());
		}
		catch (RuntimeException ex) {
			throw badRequest("'latency' must be a duration such as 50ms or 2s, not '" + text + "'");
		}
		if (latency.isNegative() || latency.compareTo(MAX_LATENCY) > 0) {
			throw badRequest("'latency' must be between 0s and 60s, not " + text);
		}
		return latency;
	}

	private static double failures(String text) {
		try {
			double failures = Double.parseDouble(text);
			if (failures >= 0 && failures <= 1) {
				return failures;
			}
		}
		catch (NumberFormatException ex) {
			// Answered below
		}
		throw badRequest("'failures' must be a share between 0 and 1 such as 0.1, not '" + text + "'");
	}

	private static ResponseStatusException badRequest(String reason) {
		return new ResponseStatusException(HttpStatus.BAD_REQUEST, reason);
	}

}
