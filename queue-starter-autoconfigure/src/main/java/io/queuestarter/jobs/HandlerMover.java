package io.queuestarter.jobs;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.function.BiConsumer;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

import io.queuestarter.browse.DeadLetter;
import io.queuestarter.delivery.Delivery;

/**
 * Brings dead letters to the handler of their queue.
 */
final class HandlerMover implements Mover {

	private final Redelivery redelivery;

	private final @Nullable Edit edit;

	private final List<Pending> pending = new ArrayList<>();

	HandlerMover(Redelivery redelivery, @Nullable Edit edit) {
		this.redelivery = redelivery;
		this.edit = edit;
	}

	@Override
	public @Nullable String obstacle() {
		return this.redelivery.obstacle();
	}

	@Override
	public boolean hasRoom() {
		return this.redelivery.hasRoom();
	}

	@Override
	public void move(DeadLetter letter) {
		String source = Objects.requireNonNull(letter.originTopic());
		ConsumerRecord<byte[], byte[]> record = (this.edit != null) ? this.edit.apply(letter.record())
				: letter.record();
		String refusal = this.redelivery.refusal(record);
		this.pending.add((refusal != null) ? new Pending(letter, null, MoveResult.refused(refusal))
				: new Pending(letter, this.redelivery.deliver(record, source), null));
	}

	@Override
	public void collect(BiConsumer<DeadLetter, MoveResult> sink) {
		Iterator<Pending> iterator = this.pending.iterator();
		while (iterator.hasNext()) {
			Pending next = iterator.next();
			MoveResult result = next.result();
			if (result != null) {
				iterator.remove();
				sink.accept(next.letter(), result);
			}
		}
	}

	@Override
	public int inFlight() {
		return this.pending.size();
	}

	@Override
	public void stop() {
		this.redelivery.letGoIdle();
	}

	@Override
	public void close() {
		this.redelivery.close();
	}

	/**
	 * A letter under way, or refused.
	 */
	private record Pending(DeadLetter letter, @Nullable Delivery delivery, @Nullable MoveResult refused) {

		@Nullable MoveResult result() {
			if (this.delivery == null) {
				return this.refused;
			}
			return switch (this.delivery.state()) {
				case SETTLED -> MoveResult.DONE;
				case REDIRECTED -> MoveResult.FAILED_AGAIN;
				case LET_GO -> MoveResult.LET_GO;
				default -> null;
			};
		}

	}

}
