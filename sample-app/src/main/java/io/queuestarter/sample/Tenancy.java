package io.queuestarter.sample;

import java.nio.charset.StandardCharsets;
import java.util.Locale;

import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;

/**
 * Whom a trip belongs to, by a header. Who says nothing is production; see
 * {@code kafka-queue} in application.yml.
 */
enum Tenancy {

	PROD, TEST;

	static final String HEADER = "tenancy";

	/** What a trip without the header is reported as. */
	static final String NONE = "none";

	/** Value of the header, and name of the lane. */
	String label() {
		return name().toLowerCase(Locale.ROOT);
	}

	void writeTo(Headers headers) {
		headers.add(HEADER, label().getBytes(StandardCharsets.UTF_8));
	}

	/** What headers say, whatever lane that was taken for. */
	static String in(Headers headers) {
		Header header = headers.lastHeader(HEADER);
		return (header != null) ? new String(header.value(), StandardCharsets.UTF_8) : NONE;
	}

}
