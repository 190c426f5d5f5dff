package io.queuestarter.actuate;

import java.util.List;
import java.util.Optional;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

import io.queuestarter.jobs.DeadLetterJobs;
import io.queuestarter.jobs.JobView;

/**
 * Endpoint {@code queuejobs}: the jobs of this process that merge and purge dead letters,
 * those that run and the last 100 that are over.
 */
@Endpoint(id = "queuejobs", defaultAccess = Access.READ_ONLY)
public class QueueJobsEndpoint {

	private final DeadLetterJobs jobs;

	/**
	 * Creates the endpoint.
	 * @param jobs the jobs
	 */
	public QueueJobsEndpoint(DeadLetterJobs jobs) {
		this.jobs = jobs;
	}

	/**
	 * All jobs.
	 * @return the jobs, latest first
	 */
	@ReadOperation
	public JobList list() {
		return new JobList(this.jobs.instance(), this.jobs.all());
	}

	/**
	 * One job.
	 * @param id its id
	 * @return the job, or a problem
	 */
	@ReadOperation
	public WebEndpointResponse<?> find(@Selector String id) {
		Optional<JobView> job = this.jobs.find(id);
		return job.isPresent() ? new WebEndpointResponse<>(job.get()) : unknown(id);
	}

	/**
	 * Tells a job to end. What is under way is waited for, a minute at most; what is
	 * resolved stays resolved.
	 * @param id its id
	 * @param securityContext who asks
	 * @return the job, or a problem
	 */
	@DeleteOperation
	public WebEndpointResponse<?> cancel(@Selector String id, @Nullable SecurityContext securityContext) {
		boolean cancelled = this.jobs.cancel(id, DeadLetterActions.nameOf(securityContext));
		Optional<JobView> job = this.jobs.find(id);
		if (job.isEmpty()) {
			return unknown(id);
		}
		return cancelled ? new WebEndpointResponse<>(job.get(), 202)
				: Problem
					.of("queue/job-ended", "The job is over", 409,
							"Job '" + id + "' is " + job.get().status() + " already.", null)
					.response();
	}

	private WebEndpointResponse<?> unknown(String id) {
		return new Problem("queue/unknown-job", "No such job", 404,
				"Instance " + this.jobs.instance() + " knows no job '" + id + "'.",
				"Jobs are known to the instance that runs them, until they are forgotten.",
				this.jobs.all().stream().map(JobView::id).toList())
			.response();
	}

	/**
	 * Answer of the list.
	 *
	 * @param instance this process
	 * @param jobs its jobs, latest first
	 */
	public record JobList(String instance, List<JobView> jobs) {

	}

}
