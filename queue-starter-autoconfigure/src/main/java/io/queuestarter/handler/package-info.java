/**
 * Calls the user's method for one attempt: decodes the record, resolves the arguments,
 * awaits the result, and tells what kind of failure it was.
 */
@NullMarked
package io.queuestarter.handler;

import org.jspecify.annotations.NullMarked;
