package io.queuestarter.actuate;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.queuestarter.QueuePayloadMask;
import io.queuestarter.actuate.LetterDetail.HeaderDetail;
import io.queuestarter.actuate.LetterDetail.Origin;
import io.queuestarter.actuate.LetterDetail.Thrown;
import io.queuestarter.browse.DeadLetter;
import io.queuestarter.browse.LetterView;
import io.queuestarter.context.ContextRules;

/**
 * Shows dead letters to one user: what the user may see, masked, and no more of it than
 * fits a window. <em>Thread-safe.</em>
 */
final class LetterRenderer implements LetterView<LetterDetail> {

	private static final Logger LOGGER = LoggerFactory.getLogger(LetterRenderer.class);

	/** Tell the story of the record rather than what it carries. */
	private static final Pattern STORY = Pattern
		.compile("(kafka_queue-|kafka_dlt-|kafka_original-|kafka_(key-)?exception-|retry_topic-).*");

	/** May quote what the record carries. */
	private static final Pattern QUOTING = Pattern.compile(".*-(message|stacktrace)");

	private static final Pattern NUMBER = Pattern
		.compile("kafka_(dlt-)?original-(partition|offset|timestamp)|retry_topic-attempts");

	private static final Pattern TRACE = Pattern.compile("[0-9a-f]{2}-([0-9a-f]{32})-.*");

	private final String queue;

	private final ContextRules rules;

	private final boolean shown;

	private final List<QueuePayloadMask> masks;

	private final int window;

	/**
	 * Creates a renderer.
	 * @param queue id of the queue
	 * @param rules tell the lane of a record
	 * @param shown whether the user may see what records carry
	 * @param masks what masks it
	 * @param window characters, or bytes of what is no text, that are shown of each part
	 */
	LetterRenderer(String queue, ContextRules rules, boolean shown, List<QueuePayloadMask> masks, int window) {
		this.queue = queue;
		this.rules = rules;
		this.shown = shown;
		this.masks = masks;
		this.window = window;
	}

	@Override
	public LetterDetail of(DeadLetter letter, boolean resolved) {
		ConsumerRecord<byte[], byte[]> record = letter.record();
		List<Excerpt> parts = new ArrayList<>();
		Excerpt key = keep(parts, excerpt("key", record.key()));
		Excerpt payload = keep(parts, excerpt("payload", record.value()));
		Excerpt message = keep(parts, message(letter.message()));
		List<HeaderDetail> headers = new ArrayList<>();
		for (Header header : record.headers()) {
			Excerpt value = keep(parts, header(header.key(), header.value()));
			headers.add(new HeaderDetail(header.key(), value.text(), value.encoding()));
		}
		boolean hidden = payload == Excerpt.HIDDEN;
		return new LetterDetail(record.topic(), record.partition() + "@" + record.offset(), letter.timestamp(),
				resolved,
				new Origin(letter.originTopic(), letter.originPartition(), letter.originOffset(),
						letter.originTimestamp()),
				letter.group(), letter.listener(), this.rules.of(record.headers()).lane(), letter.reason(),
				letter.attempts(), letter.merges(), thrown(letter, message), traceId(record), key.text(),
				key.encoding(), headers, hidden ? null : payload.text(), payload.encoding(),
				(record.value() != null) ? record.value().length : -1, payload.truncated(),
				parts.contains(Excerpt.HIDDEN) || !this.shown);
	}

	private static Excerpt keep(List<Excerpt> parts, Excerpt part) {
		parts.add(part);
		return part;
	}

	private static @Nullable Thrown thrown(DeadLetter letter, Excerpt message) {
		return (letter.exception() != null) ? new Thrown(letter.exception(), letter.cause(), message.text()) : null;
	}

	private Excerpt message(@Nullable String message) {
		if (message == null) {
			return Excerpt.NOTHING;
		}
		return this.shown ? masked("exception", message) : Excerpt.HIDDEN;
	}

	private Excerpt header(String name, byte @Nullable [] value) {
		if (value == null || !STORY.matcher(name).matches() || QUOTING.matcher(name).matches()) {
			return excerpt("header:" + name, value);
		}
		if (NUMBER.matcher(name).matches() && (value.length == Integer.BYTES || value.length == Long.BYTES)) {
			ByteBuffer number = ByteBuffer.wrap(value);
			return new Excerpt(Long.toString((value.length == Long.BYTES) ? number.getLong() : number.getInt()), null,
					false);
		}
		String text = Excerpt.textOf(value);
		return (text != null) ? Excerpt.ofText(text, this.window) : Excerpt.ofBytes(value, this.window);
	}

	private Excerpt excerpt(String part, byte @Nullable [] content) {
		if (content == null) {
			return Excerpt.NOTHING;
		}
		if (!this.shown) {
			return Excerpt.HIDDEN;
		}
		String text = Excerpt.textOf(content);
		if (text != null) {
			return masked(part, text);
		}
		// A mask cannot tell what is in it.
		return this.masks.isEmpty() ? Excerpt.ofBytes(content, this.window) : Excerpt.HIDDEN;
	}

	private Excerpt masked(String part, String text) {
		String current = text;
		try {
			for (QueuePayloadMask mask : this.masks) {
				current = mask.mask(this.queue, part, current);
			}
			return Excerpt.ofText(current, this.window);
		}
		catch (RuntimeException ex) {
			// Not the error itself: it may quote the text.
			LOGGER.warn("A mask of queue '{}' threw {}; the {} is hidden", this.queue, ex.getClass().getName(), part);
			return Excerpt.HIDDEN;
		}
	}

	private static @Nullable String traceId(ConsumerRecord<byte[], byte[]> record) {
		Header header = record.headers().lastHeader("traceparent");
		String text = (header != null && header.value() != null) ? Excerpt.textOf(header.value()) : null;
		Matcher matcher = TRACE.matcher((text != null) ? text : "");
		return matcher.matches() ? matcher.group(1) : null;
	}

}
