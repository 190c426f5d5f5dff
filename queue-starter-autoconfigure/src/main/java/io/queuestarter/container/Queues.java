package io.queuestarter.container;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/**
 * The queues of this process. <em>Thread-safe.</em>
 */
public final class Queues implements AutoCloseable {

	private final Map<String, Queue> queues = new ConcurrentSkipListMap<>();

	private final List<Consumer<Queue>> listeners = new CopyOnWriteArrayList<>();

	void add(Queue queue) {
		this.queues.put(queue.id(), queue);
		this.listeners.forEach((listener) -> listener.accept(queue));
	}

	/**
	 * Tells a listener of every queue, those that exist and those that are added later.
	 * @param listener the listener
	 */
	public void forEach(Consumer<Queue> listener) {
		this.listeners.add(listener);
		all().forEach(listener);
	}

	/**
	 * All queues, by id.
	 * @return the queues
	 */
	public Collection<Queue> all() {
		return List.copyOf(this.queues.values());
	}

	/**
	 * One queue.
	 * @param id its id
	 * @return the queue, if there is one of this id
	 */
	public Optional<Queue> find(String id) {
		return Optional.ofNullable(this.queues.get(id));
	}

	@Override
	public void close() {
		this.queues.values().forEach(Queue::close);
	}

}
