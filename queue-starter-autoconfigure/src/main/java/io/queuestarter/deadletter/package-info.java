/**
 * Writes failed records to the dead-letter topic, byte for byte and with their story.
 */
@NullMarked
package io.queuestarter.deadletter;

import org.jspecify.annotations.NullMarked;
