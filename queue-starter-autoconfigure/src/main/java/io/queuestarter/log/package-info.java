/**
 * Keeps the log short, however many records fail.
 */
@NullMarked
package io.queuestarter.log;

import org.jspecify.annotations.NullMarked;
