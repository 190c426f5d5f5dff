package io.queuestarter.handler;

import java.util.Collection;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.springframework.messaging.MessageHeaders;

/**
 * Headers of a message that are made when they are first read. <em>Thread-safe.</em>
 * <p>
 * They are equal to others with the same content, but {@link MessageHeaders} of another
 * class are equal to none of these: they do not ask.
 */
final class OnDemandHeaders extends MessageHeaders {

	private static final long serialVersionUID = 1L;

	private static final Long NO_TIMESTAMP = -1L;

	/**
	 * Volatile; a {@link Source}, or the headers. Two threads that are first at one time
	 * make the same twice.
	 */
	private transient volatile Object state;

	OnDemandHeaders(Source source) {
		super(null, ID_VALUE_NONE, NO_TIMESTAMP);
		this.state = source;
	}

	private MessageHeaders made() {
		Object current = this.state;
		if (current instanceof Source source) {
			current = source.make();
			this.state = current;
		}
		return (MessageHeaders) current;
	}

	@Override
	protected Map<String, Object> getRawHeaders() {
		return made();
	}

	@Override
	public @Nullable Object get(Object key) {
		return made().get(key);
	}

	@Override
	public <T> @Nullable T get(Object key, Class<T> type) {
		return made().get(key, type);
	}

	@Override
	public boolean containsKey(Object key) {
		return made().containsKey(key);
	}

	@Override
	public boolean containsValue(Object value) {
		return made().containsValue(value);
	}

	@Override
	public Set<Map.Entry<String, Object>> entrySet() {
		return made().entrySet();
	}

	@Override
	public Set<String> keySet() {
		return made().keySet();
	}

	@Override
	public Collection<Object> values() {
		return made().values();
	}

	@Override
	public int size() {
		return made().size();
	}

	@Override
	public boolean isEmpty() {
		return made().isEmpty();
	}

	@Override
	public boolean equals(@Nullable Object other) {
		return made().equals((other instanceof OnDemandHeaders headers) ? headers.made() : other);
	}

	@Override
	public int hashCode() {
		return made().hashCode();
	}

	@Override
	public String toString() {
		return made().toString();
	}

	/** Serialized are headers like others. */
	private Object writeReplace() {
		return made();
	}

	/**
	 * Makes the headers.
	 */
	@FunctionalInterface
	interface Source {

		MessageHeaders make();

	}

}
