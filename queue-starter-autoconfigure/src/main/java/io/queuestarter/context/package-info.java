/**
 * Reads from the headers of a record where it belongs: its lane and its zone.
 */
@NullMarked
package io.queuestarter.context;

import org.jspecify.annotations.NullMarked;
