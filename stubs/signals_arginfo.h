/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: 36c9bb4f03c5475ff155ba1b528b735c927bf7d4 */



static void register_signals_symbols(int module_number)
{
	REGISTER_LONG_CONSTANT("Latch\\IGNORED_SIGNALS", ignored_signals(), CONST_PERSISTENT);
}
