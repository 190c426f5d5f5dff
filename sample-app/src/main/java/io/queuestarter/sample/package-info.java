/**
 * Runnable demonstration.
 */
@NullMarked
package io.queuestarter.sample;

import org.jspecify.annotations.NullMarked;
