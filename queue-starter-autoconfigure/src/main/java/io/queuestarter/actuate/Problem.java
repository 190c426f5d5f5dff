package io.queuestarter.actuate;

import java.util.List;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.util.MimeType;

import io.queuestarter.browse.Spelling;
import io.queuestarter.jobs.JobRunningException;

/**
 * Answer of an endpoint that did nothing, and says why.
 *
 * @param type kind of problem, for programs
 * @param title kind of problem, for people
 * @param status HTTP status
 * @param detail what is wrong
 * @param hint what to do about it, if that can be told
 * @param allowed what would have been understood, if that can be listed
 * @param job the job that is in the way, if one is
 */
public record Problem(String type, String title, int status, String detail, @Nullable String hint,
		@Nullable List<String> allowed, @Nullable String job) {

	private static final MimeType MEDIA_TYPE = new MimeType("application", "problem+json");

	Problem(String type, String title, int status, String detail, @Nullable String hint,
			@Nullable List<String> allowed) {
		this(type, title, status, detail, hint, allowed, null);
	}

	static Problem jobRunning(JobRunningException error) {
		return new Problem("queue/job-running", "Another job runs", 409, String.valueOf(error.getMessage()),
				"Wait for its end, or cancel it with DELETE queuejobs/" + error.getJob()
						+ " on that instance. A process that was killed is missed after 10 seconds.",
				null, error.getJob());
	}

	static Problem unknownQueue(String id, List<String> known) {
		return new Problem("queue/unknown-queue", "No such queue", 404, "There is no queue '" + id + "'.",
				hint(Spelling.suggestion(id, known)), known);
	}

	static Problem unknownParameter(String name, List<String> allowed) {
		return new Problem("queue/unknown-parameter", "No such parameter", 400,
				"There is no parameter '" + name + "' here; nothing was done.",
				hint(Spelling.suggestion(name, allowed)), allowed);
	}

	static Problem invalidParameter(String name, String value, List<String> allowed) {
		return new Problem("queue/invalid-parameter", "Not understood", 400,
				"'" + name + "' is '" + value + "', which is not understood; nothing was done.",
				hint(Spelling.suggestion(value, allowed)), allowed);
	}

	static Problem of(String type, String title, int status, String detail, @Nullable String hint) {
		return new Problem(type, title, status, detail, hint, null);
	}

	private static @Nullable String hint(String sentence) {
		return sentence.isEmpty() ? null : sentence.trim();
	}

	/** The answer with the status of this problem. */
	WebEndpointResponse<Problem> response() {
		return new WebEndpointResponse<>(this, this.status, MEDIA_TYPE);
	}

}
