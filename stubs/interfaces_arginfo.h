/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: d8d06e374f0ec3a069d2bbfbe535bb9effb531d7 */

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Latch_LockInterface_acquire, 0, 0, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, blocking, _IS_BOOL, 0, "false")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Latch_LockInterface_refresh, 0, 0, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_DOUBLE, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Latch_LockInterface_isAcquired, 0, 0, _IS_BOOL, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Latch_LockInterface_release, 0, 0, IS_VOID, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_LockInterface_isExpired arginfo_class_Latch_LockInterface_isAcquired

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Latch_LockInterface_getRemainingLifetime, 0, 0, IS_DOUBLE, 1)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_SharedLockInterface_acquireRead arginfo_class_Latch_LockInterface_acquire

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Latch_PersistingStoreInterface_save, 0, 1, IS_VOID, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Key, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_PersistingStoreInterface_delete arginfo_class_Latch_PersistingStoreInterface_save

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Latch_PersistingStoreInterface_exists, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Key, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_TENTATIVE_RETURN_TYPE_INFO_EX(arginfo_class_Latch_PersistingStoreInterface_putOffExpiration, 0, 2, IS_VOID, 0)
	ZEND_ARG_OBJ_INFO(0, key, Latch\\Key, 0)
	ZEND_ARG_TYPE_INFO(0, ttl, IS_DOUBLE, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Latch_BlockingStoreInterface_waitAndSave arginfo_class_Latch_PersistingStoreInterface_save

#define arginfo_class_Latch_SharedLockStoreInterface_saveRead arginfo_class_Latch_PersistingStoreInterface_save

#define arginfo_class_Latch_BlockingSharedLockStoreInterface_waitAndSaveRead arginfo_class_Latch_PersistingStoreInterface_save




static const zend_function_entry class_Latch_LockInterface_methods[] = {
	ZEND_ABSTRACT_ME_WITH_FLAGS(Latch_LockInterface, acquire, arginfo_class_Latch_LockInterface_acquire, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Latch_LockInterface, refresh, arginfo_class_Latch_LockInterface_refresh, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Latch_LockInterface, isAcquired, arginfo_class_Latch_LockInterface_isAcquired, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Latch_LockInterface, release, arginfo_class_Latch_LockInterface_release, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Latch_LockInterface, isExpired, arginfo_class_Latch_LockInterface_isExpired, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Latch_LockInterface, getRemainingLifetime, arginfo_class_Latch_LockInterface_getRemainingLifetime, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_FE_END
};


static const zend_function_entry class_Latch_SharedLockInterface_methods[] = {
	ZEND_ABSTRACT_ME_WITH_FLAGS(Latch_SharedLockInterface, acquireRead, arginfo_class_Latch_SharedLockInterface_acquireRead, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_FE_END
};


static const zend_function_entry class_Latch_PersistingStoreInterface_methods[] = {
	ZEND_ABSTRACT_ME_WITH_FLAGS(Latch_PersistingStoreInterface, save, arginfo_class_Latch_PersistingStoreInterface_save, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Latch_PersistingStoreInterface, delete, arginfo_class_Latch_PersistingStoreInterface_delete, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Latch_PersistingStoreInterface, exists, arginfo_class_Latch_PersistingStoreInterface_exists, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Latch_PersistingStoreInterface, putOffExpiration, arginfo_class_Latch_PersistingStoreInterface_putOffExpiration, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_FE_END
};


static const zend_function_entry class_Latch_BlockingStoreInterface_methods[] = {
	ZEND_ABSTRACT_ME_WITH_FLAGS(Latch_BlockingStoreInterface, waitAndSave, arginfo_class_Latch_BlockingStoreInterface_waitAndSave, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_FE_END
};


static const zend_function_entry class_Latch_SharedLockStoreInterface_methods[] = {
	ZEND_ABSTRACT_ME_WITH_FLAGS(Latch_SharedLockStoreInterface, saveRead, arginfo_class_Latch_SharedLockStoreInterface_saveRead, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_FE_END
};


static const zend_function_entry class_Latch_BlockingSharedLockStoreInterface_methods[] = {
	ZEND_ABSTRACT_ME_WITH_FLAGS(Latch_BlockingSharedLockStoreInterface, waitAndSaveRead, arginfo_class_Latch_BlockingSharedLockStoreInterface_waitAndSaveRead, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_FE_END
};

static zend_class_entry *register_class_Latch_LockInterface(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch", "LockInterface", class_Latch_LockInterface_methods);
	class_entry = zend_register_internal_interface(&ce);

	return class_entry;
}

static zend_class_entry *register_class_Latch_SharedLockInterface(zend_class_entry *class_entry_Latch_LockInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch", "SharedLockInterface", class_Latch_SharedLockInterface_methods);
	class_entry = zend_register_internal_interface(&ce);
	zend_class_implements(class_entry, 1, class_entry_Latch_LockInterface);

	return class_entry;
}

static zend_class_entry *register_class_Latch_PersistingStoreInterface(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch", "PersistingStoreInterface", class_Latch_PersistingStoreInterface_methods);
	class_entry = zend_register_internal_interface(&ce);

	return class_entry;
}

static zend_class_entry *register_class_Latch_BlockingStoreInterface(zend_class_entry *class_entry_Latch_PersistingStoreInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch", "BlockingStoreInterface", class_Latch_BlockingStoreInterface_methods);
	class_entry = zend_register_internal_interface(&ce);
	zend_class_implements(class_entry, 1, class_entry_Latch_PersistingStoreInterface);

	return class_entry;
}

static zend_class_entry *register_class_Latch_SharedLockStoreInterface(zend_class_entry *class_entry_Latch_PersistingStoreInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch", "SharedLockStoreInterface", class_Latch_SharedLockStoreInterface_methods);
	class_entry = zend_register_internal_interface(&ce);
	zend_class_implements(class_entry, 1, class_entry_Latch_PersistingStoreInterface);

	return class_entry;
}

static zend_class_entry *register_class_Latch_BlockingSharedLockStoreInterface(zend_class_entry *class_entry_Latch_SharedLockStoreInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Latch", "BlockingSharedLockStoreInterface", class_Latch_BlockingSharedLockStoreInterface_methods);
	class_entry = zend_register_internal_interface(&ce);
	zend_class_implements(class_entry, 1, class_entry_Latch_SharedLockStoreInterface);

	return class_entry;
}
