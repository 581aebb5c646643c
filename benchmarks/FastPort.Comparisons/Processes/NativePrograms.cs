namespace FastPort.Comparisons.Processes;

/// <summary>
/// The programs in C, compiled once a run into its temporary folder: the load clients, the raw server that is the limit, and libzmq's side
/// of the messaging comparison.
/// </summary>
internal sealed class NativePrograms
{
    /// <summary>The C compiler's name on the search path.</summary>
    public const string Compiler = "cc";

    private const string ZmqLibrary = "-l:libzmq.so.5";

    private static readonly Dictionary<string, string> NoEnvironment = new(StringComparer.Ordinal);

    private readonly Dictionary<string, (string Path, string? Missing)> _programs = new(StringComparer.Ordinal);

    private NativePrograms()
    {
    }

    /// <summary>The epoll load of many connections; also holds idle ones.</summary>
    public string EchoLoad => _programs["echo_load"].Path;

    /// <summary>One connection, one request in flight.</summary>
    public string LockStep => _programs["lock_step"].Path;

    /// <summary>The raw echo.</summary>
    public string EchoServer => _programs["echo_server"].Path;

    /// <summary>libzmq, both sides.</summary>
    public string ZmqPeer => _programs["zmq_peer"].Path;

    /// <summary>Compiles them all. What is missing is remembered; a source that does not compile ends the run.</summary>
    public static async Task<NativePrograms> BuildAsync(Workbench bench, CancellationToken cancellation)
    {
        var programs = new NativePrograms();
        bool hasCompiler = ProgramLocator.FindTool(Compiler) is not null;
        (string Name, string[] Libraries)[] sources = [
            ("echo_load", []), ("lock_step", []), ("echo_server", []), ("zmq_peer", [ZmqLibrary])];
        foreach ((string name, string[] libraries) in sources)
        {
            string path = Path.Combine(bench.TemporaryFolder, name);
            string? missing = hasCompiler
                ? await CompileAsync(name, path, libraries, bench, cancellation)
                : $"{Compiler} is missing: {name} cannot be built (Debian: apt install gcc libc6-dev)";
            programs._programs.Add(name, (path, missing));
        }

        return programs;
    }

    /// <summary>Why a program cannot be run, or null where it can.</summary>
    /// <param name="path">One of this object's paths.</param>
    public string? Missing(string path) => _programs[Path.GetFileName(path)].Missing;

    private static async Task<string?> CompileAsync(
        string name, string path, string[] libraries, Workbench bench, CancellationToken cancellation)
    {
        string source = Path.Combine(bench.Programs.Root, "benchmarks", "Native", $"{name}.c");
        string[] command = [Compiler, "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-o", path, source, "-lpthread", .. libraries];
        using ChildProcess build = bench.Children.Start(command, bench.TemporaryFolder, NoEnvironment);
        await build.WaitForExitAsync(cancellation);
        if (build.ExitCode == 0)
        {
            return null;
        }

        string errors = build.Errors();
        return libraries.Contains(ZmqLibrary) && errors.Contains(ZmqLibrary, StringComparison.Ordinal)
            ? "libzmq.so.5 is missing: libzmq cannot be compared with (Debian: apt install libzmq5)"
            : throw new ComparisonException($"{name} does not compile ({string.Join(' ', command)}): {errors}");
    }
}
