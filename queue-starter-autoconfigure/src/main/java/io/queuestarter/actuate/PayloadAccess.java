package io.queuestarter.actuate;

import java.util.List;
import java.util.Set;

import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.Show;

import io.queuestarter.QueuePayloadMask;

/**
 * Who is shown payloads, keys and headers of dead letters, and what is masked for them.
 *
 * @param show when they are shown
 * @param roles roles, one of which a user needs when authorized; any if empty
 * @param masks what masks them, in this order
 */
public record PayloadAccess(Show show, Set<String> roles, List<QueuePayloadMask> masks) {

	boolean isShownTo(SecurityContext user) {
		return this.show.isShown(user, this.roles);
	}

}
