namespace FastPort.Comparisons.Processes;

/// <summary>
/// The programs in C, compiled once a run into its temporary folder: the load clients, with and without TLS, the raw server that is the
/// limit, and libzmq's side of the messaging comparison.
/// </summary>
internal sealed class NativePrograms
{
    /// <summary>The C compiler's name on the search path.</summary>
    public const string Compiler = "cc";

    private const string ZmqLibrary = "-l:libzmq.so.5";
    private const string TlsLibrary = "-l:libssl.so.3";

    // What to say where a library is not there; all else that does not compile is an error.
    private static readonly (string Library, string Missing)[] Absences =
    [
        (ZmqLibrary, "libzmq.so.5 is missing: libzmq cannot be compared with (Debian: apt install libzmq5)"),
        (TlsLibrary, "libssl.so.3 is missing: TLS cannot be compared (Debian: apt install libssl3)"),
    ];

    // Comes with libssl.
    private const string CryptoLibrary = "-l:libcrypto.so.3";

    private readonly Dictionary<string, (string Path, string? Missing)> _programs = new(StringComparer.Ordinal);

    private NativePrograms()
    {
    }

    /// <summary>The epoll load of many connections; also holds idle ones.</summary>
    public string EchoLoad => _programs["echo_load"].Path;

    /// <summary>The same over TLS.</summary>
    public string EchoLoadTls => _programs["echo_load_tls"].Path;

    /// <summary>Full TLS handshakes.</summary>
    public string TlsHandshakes => _programs["tls_handshakes"].Path;

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
        (string Name, string Source, string[] Arguments)[] sources =
        [
            ("echo_load", "echo_load", []), ("lock_step", "lock_step", []), ("echo_server", "echo_server", []),
            ("zmq_peer", "zmq_peer", [ZmqLibrary]),
            ("echo_load_tls", "echo_load", ["-DFASTPORT_TLS", TlsLibrary, CryptoLibrary]),
            ("tls_handshakes", "tls_handshakes", [TlsLibrary, CryptoLibrary]),
        ];
        foreach ((string name, string source, string[] arguments) in sources)
        {
            string path = Path.Combine(bench.TemporaryFolder, name);
            string? missing = hasCompiler
                ? await CompileAsync(source, path, arguments, bench, cancellation)
                : $"{Compiler} is missing: {name} cannot be built (Debian: apt install gcc libc6-dev)";
            programs._programs.Add(name, (path, missing));
        }

        return programs;
    }

    /// <summary>Why a program cannot be run, or null where it can.</summary>
    /// <param name="path">One of this object's paths.</param>
    public string? Missing(string path) => _programs[Path.GetFileName(path)].Missing;

    private static async Task<string?> CompileAsync(
        string name, string path, string[] arguments, Workbench bench, CancellationToken cancellation)
    {
        string source = Path.Combine(bench.Programs.Root, "benchmarks", "Native", $"{name}.c");
        string[] command = [Compiler, "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-o", path, source, "-lpthread", .. arguments];
        using ChildProcess build = bench.Children.Start(command, bench.TemporaryFolder);
        await build.WaitForExitAsync(cancellation);
        if (build.ExitCode == 0)
        {
            return null;
        }

        string errors = build.Errors();
        return Absences.FirstOrDefault(
                absence => arguments.Contains(absence.Library) && errors.Contains(absence.Library, StringComparison.Ordinal)).Missing
            ?? throw new ComparisonException($"{name} does not compile ({string.Join(' ', command)}): {errors}");
    }
}
