/**
 * Benchmarks of the engine.
 */
@NullMarked
package io.queuestarter.benchmarks;

import org.jspecify.annotations.NullMarked;
