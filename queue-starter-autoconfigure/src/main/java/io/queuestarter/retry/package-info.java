/**
 * When a failed record runs again.
 */
@NullMarked
package io.queuestarter.retry;

import org.jspecify.annotations.NullMarked;
