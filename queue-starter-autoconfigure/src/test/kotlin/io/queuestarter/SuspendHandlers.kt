package io.queuestarter

import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flowOf
import java.util.concurrent.CopyOnWriteArrayList

/** Suspends until the test lets it go on. */
open class SuspendHandler {

	val started = CopyOnWriteArrayList<String>()

	val release = CompletableDeferred<Unit>()

	@QueueListener(id = "suspending", topics = ["\${topic}"], groupId = "results-suspend")
	open suspend fun handle(value: String, context: QueueContext) {
		started.add(value + context.attempt())
		if (value == "bad") {
			throw IllegalStateException("bad from the start")
		}
		release.await()
		if (value == "fails") {
			throw IllegalArgumentException("failed after suspension")
		}
	}

}

/** Returns a result that nobody would wait for. */
open class DeferredHandler {

	@QueueListener(id = "deferred", topics = ["\${topic}"], groupId = "results-refused")
	open fun handle(value: String): Deferred<String> = CompletableDeferred(value)

}

/** Returns a result that nobody would collect. */
open class FlowHandler {

	@QueueListener(id = "flow", topics = ["\${topic}"], groupId = "results-refused")
	open fun handle(value: String): Flow<String> = flowOf(value)

}
