/**
 * What monitoring sees of the queues: meters and health.
 */
@NullMarked
package io.queuestarter.observe;

import org.jspecify.annotations.NullMarked;
