package io.queuestarter.outage;

/**
 * State of a circuit at one moment.
 *
 * @param name name of its breaker
 * @param state state of the breaker: {@code CLOSED}, {@code OPEN}, {@code HALF_OPEN},
 * another one that resilience4j knows, or {@code DISABLED}
 * @param budget records that may be given up now
 */
public record CircuitState(String name, String state, long budget) {

}
