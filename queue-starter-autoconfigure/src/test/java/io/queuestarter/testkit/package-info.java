/**
 * What broker tests share: one embedded broker for the JVM, an application per test, and
 * eyes on topics and groups.
 */
@NullMarked
package io.queuestarter.testkit;

import org.jspecify.annotations.NullMarked;
