/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: e7d0c252c8cb259fb36ce1f46c3074bfba987590 */



static void register_signals_symbols(int module_number)
{
	REGISTER_LONG_CONSTANT("Latch\\IGNORED_SIGNALS", ignored_signals(), CONST_PERSISTENT);
}
