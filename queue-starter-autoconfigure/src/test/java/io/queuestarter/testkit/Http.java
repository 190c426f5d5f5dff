package io.queuestarter.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.Objects;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Talks to an application of a test. <em>Thread-safe.</em>
 */
public final class Http {

	private static final HttpClient CLIENT = HttpClient.newHttpClient();

	private final String base;

	private final @Nullable String authorization;

	private Http(String base, @Nullable String authorization) {
		this.base = base;
		this.authorization = authorization;
	}

	/** Talks to the actuator of an application. */
	public static Http actuator(QueueApp app) {
		String port = Objects.requireNonNull(app.context().getEnvironment().getProperty("local.server.port"));
		return new Http("http://localhost:" + port + "/actuator/", null);
	}

	/** The same as a user, whose password is the name. */
	public Http as(String user) {
		String credentials = Base64.getEncoder().encodeToString((user + ":" + user).getBytes(StandardCharsets.UTF_8));
		return new Http(this.base, "Basic " + credentials);
	}

	/** Gets what is at a path. */
	public Answer get(String path) {
		return send(HttpRequest.newBuilder().GET(), path);
	}

	/** Posts a body of JSON. */
	public Answer post(String path, Map<String, ?> body) {
		return send(HttpRequest.newBuilder()
			.header("Content-Type", "application/json")
			.POST(HttpRequest.BodyPublishers.ofString(JsonMapper.shared().writeValueAsString(body))), path);
	}

	/** Deletes what is at a path. */
	public Answer delete(String path) {
		return send(HttpRequest.newBuilder().DELETE(), path);
	}

	private Answer send(HttpRequest.Builder request, String path) {
		try {
			request.uri(URI.create(this.base + path)).timeout(Duration.ofSeconds(30));
			if (this.authorization != null) {
				request.header("Authorization", this.authorization);
			}
			HttpResponse<String> response = CLIENT.send(request.build(), HttpResponse.BodyHandlers.ofString());
			return new Answer(response.statusCode(), response.headers().firstValue("Content-Type").orElse(""),
					response.body());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * What came back.
	 *
	 * @param status HTTP status
	 * @param contentType media type
	 * @param body the body
	 */
	public record Answer(int status, String contentType, String body) {

		/** The body as JSON. */
		public JsonNode json() {
			return JsonMapper.shared().readTree(this.body);
		}

		/** A value in the body; empty text if there is none. */
		public String at(String pointer) {
			return json().at(pointer).asString("");
		}

	}

}
