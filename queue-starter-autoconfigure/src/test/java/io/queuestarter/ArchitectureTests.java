package io.queuestarter;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import org.jspecify.annotations.NullMarked;
import org.springframework.boot.autoconfigure.AutoConfiguration;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.constructors;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

/**
 * Direction, purity and visibility of the packages. A rule holds also while the packages
 * that it speaks of have no class yet.
 */
@AnalyzeClasses(packages = ArchitectureTests.ROOT, importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTests {

	static final String ROOT = "io.queuestarter";

	/**
	 * Public top-level types of the root package: what applications import.
	 */
	private static final Set<String> PUBLIC_ROOT_TYPES = Set.of("Ordering", "QueueBatchException",
			"QueueConfigurationException", "QueueCircuitKey", "QueueContext", "QueueException", "QueueListener",
			"QueuePayloadMask", "QueueRejectException", "QueueRetryException");

	/**
	 * For each package, in the order a record meets them, the packages it may use beside
	 * itself. The empty name is the root package.
	 */
	private static final Map<String, Set<String>> MAY_USE = Map.ofEntries(
	// @formatter:off
		Map.entry("", Set.of()),
		Map.entry("ledger", Set.of()),
		Map.entry("lock", Set.of()),
		Map.entry("dispatch", Set.of("", "lock")),
		Map.entry("log", Set.of()),
		Map.entry("context", Set.of("")),
		Map.entry("outage", Set.of("", "lock", "log")),
		Map.entry("delivery", Set.of("", "context", "ledger", "dispatch", "outage")),
		Map.entry("intake", Set.of("", "context", "ledger", "delivery", "dispatch")),
		Map.entry("handler", Set.of("", "context", "delivery", "dispatch", "outage", "log")),
		Map.entry("retry", Set.of("", "delivery", "dispatch")),
		Map.entry("deadletter", Set.of("", "delivery", "handler", "log")),
		Map.entry("browse", Set.of("", "context", "ledger", "deadletter")),
		Map.entry("settle", Set.of("", "delivery", "dispatch", "handler", "retry", "deadletter", "outage", "log")),
		Map.entry("blockage", Set.of("", "context", "ledger", "delivery", "outage", "settle", "log")),
		Map.entry("jobs", Set.of("", "ledger", "delivery", "deadletter", "browse")),
		Map.entry("commit", Set.of("", "ledger", "delivery")),
		Map.entry("container", Set.of("", "context", "ledger", "delivery", "dispatch", "intake", "handler", "retry", "deadletter",
				"browse", "jobs", "settle", "commit", "outage", "blockage", "log")),
		Map.entry("observe", Set.of("", "delivery", "intake", "handler", "deadletter", "browse", "jobs", "settle", "outage", "container")),
		Map.entry("actuate",
				Set.of("", "context", "deadletter", "browse", "jobs", "settle", "outage", "container", "observe")),
		Map.entry("autoconfigure", Set.of("", "context", "ledger", "delivery", "dispatch", "intake", "handler", "retry",
				"deadletter", "browse", "jobs", "settle", "commit", "outage", "blockage", "log", "container", "observe",
				"actuate"))
	// @formatter:on
	);

	private static final String[] OUTER_PACKAGES = { ROOT + ".observe..", ROOT + ".actuate..",
			ROOT + ".autoconfigure.." };

	@ArchTest
	static final ArchRule packagesUseOnlyWhatTheTableAllows = classes().should(useOnlyAllowedPackages())
		.allowEmptyShould(true);

	@ArchTest
	static final ArchRule packagesAreFreeOfCycles = slices().matching(ROOT + ".(*)..")
		.should()
		.beFreeOfCycles()
		.allowEmptyShould(true);

	@ArchTest
	static final ArchRule ledgerIsPureJava = classes().that()
		.resideInAPackage(ROOT + ".ledger..")
		.should()
		.onlyDependOnClassesThat()
		.resideInAnyPackage("java..", "org.jspecify..", "com.google.errorprone.annotations..", ROOT + ".ledger..")
		.allowEmptyShould(true);

	@ArchTest
	static final ArchRule dispatchIsPureJava = classes().that()
		.resideInAPackage(ROOT + ".dispatch..")
		.should()
		.onlyDependOnClassesThat()
		.resideInAnyPackage("java..", "org.jspecify..", "com.google.errorprone.annotations..", ROOT + ".dispatch..",
				ROOT + ".lock..", ROOT)
		.allowEmptyShould(true);

	@ArchTest
	static final ArchRule engineKnowsNeitherBootNorMicrometer = noClasses().that()
		.resideOutsideOfPackages(OUTER_PACKAGES)
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage("org.springframework.boot..", "io.micrometer..")
		.allowEmptyShould(true);

	@ArchTest
	static final ArchRule autoConfigurationsAreFinal = classes().that()
		.areAnnotatedWith(AutoConfiguration.class)
		.should()
		.haveModifier(JavaModifier.FINAL)
		.allowEmptyShould(true);

	@ArchTest
	static final ArchRule autoConfigurationsHaveNoPublicMethod = methods().that()
		.areDeclaredInClassesThat()
		.areAnnotatedWith(AutoConfiguration.class)
		.should()
		.notBePublic()
		.allowEmptyShould(true);

	@ArchTest
	static final ArchRule autoConfigurationsHaveNoPublicConstructor = constructors().that()
		.areDeclaredInClassesThat()
		.areAnnotatedWith(AutoConfiguration.class)
		.should()
		.bePackagePrivate()
		.allowEmptyShould(true);

	@ArchTest
	static final ArchRule autoConfigurationsHaveNoPublicField = fields().that()
		.areDeclaredInClassesThat()
		.areAnnotatedWith(AutoConfiguration.class)
		.should()
		.notBePublic()
		.allowEmptyShould(true);

	@ArchTest
	static final ArchRule publicTypesOfTheRootAreListed = classes().that()
		.resideInAPackage(ROOT)
		.and()
		.areTopLevelClasses()
		.and()
		.arePublic()
		.should(beOneOf(PUBLIC_ROOT_TYPES))
		.allowEmptyShould(true);

	@ArchTest
	static final ArchRule packagesAreNullMarked = classes().should(resideInNullMarkedPackage()).allowEmptyShould(true);

	private static ArchCondition<JavaClass> useOnlyAllowedPackages() {
		return new ArchCondition<>("use only the packages that the table allows") {

			@Override
			public void check(JavaClass type, ConditionEvents events) {
				String from = stage(type);
				Set<String> allowed = MAY_USE.get(from);
				if (allowed == null) {
					events.add(SimpleConditionEvent.violated(type,
							"Package of %s is not in the table".formatted(type.getName())));
					return;
				}
				for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
					JavaClass target = dependency.getTargetClass().getBaseComponentType();
					if (isOurs(target) && !stage(target).equals(from) && !allowed.contains(stage(target))) {
						events.add(SimpleConditionEvent.violated(dependency, dependency.getDescription()));
					}
				}
			}

		};
	}

	private static ArchCondition<JavaClass> beOneOf(Set<String> names) {
		return new ArchCondition<>("be one of " + names) {

			private final Set<String> missing = new HashSet<>(names);

			@Override
			public void check(JavaClass type, ConditionEvents events) {
				this.missing.remove(type.getSimpleName());
				if (!names.contains(type.getSimpleName())) {
					events.add(SimpleConditionEvent.violated(type,
							"Public type %s is not in the list".formatted(type.getName())));
				}
			}

			@Override
			public void finish(ConditionEvents events) {
				this.missing.forEach((name) -> events.add(SimpleConditionEvent.violated(name,
						"Listed type %s is not a public type of the root package".formatted(name))));
			}

		};
	}

	private static ArchCondition<JavaClass> resideInNullMarkedPackage() {
		return new ArchCondition<>("reside in a package with @NullMarked in its package-info") {

			@Override
			public void check(JavaClass type, ConditionEvents events) {
				if (!type.getPackage().isAnnotatedWith(NullMarked.class)) {
					events.add(SimpleConditionEvent.violated(type,
							"Package of %s is not null-marked".formatted(type.getName())));
				}
			}

		};
	}

	private static boolean isOurs(JavaClass type) {
		return type.getPackageName().equals(ROOT) || type.getPackageName().startsWith(ROOT + ".");
	}

	/**
	 * Returns the first package segment below the root, empty for the root itself.
	 */
	private static String stage(JavaClass type) {
		String below = type.getPackageName().substring(ROOT.length());
		return below.isEmpty() ? "" : below.substring(1).split("\\.", 2)[0];
	}

}
