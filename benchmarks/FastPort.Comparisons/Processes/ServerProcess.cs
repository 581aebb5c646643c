using FastPort.Comparisons.Candidates;

namespace FastPort.Comparisons.Processes;

/// <summary>A candidate's running server, ready for connections.</summary>
internal sealed class ServerProcess : IDisposable
{
    private static readonly TimeSpan StartTimeout = TimeSpan.FromSeconds(30);

    private readonly ChildProcess _process;

    private ServerProcess(Candidate candidate, ChildProcess process, string endpoint)
    {
        Candidate = candidate;
        _process = process;
        Endpoint = endpoint;
    }

    public Candidate Candidate { get; }

    /// <summary>Where it listens, as a URI.</summary>
    public string Endpoint { get; }

    public int Id => _process.Id;

    public static async Task<ServerProcess> StartAsync(Candidate candidate, Workbench bench, CancellationToken cancellation)
    {
        var listening = new TaskCompletionSource<string>(TaskCreationOptions.RunContinuationsAsynchronously);
        string? lastLine = null;

        // The program's telemetry stays as it comes; only its files go where they are removed with everything else.
        var environment = new Dictionary<string, string>(candidate.Environment, StringComparer.Ordinal)
        {
            ["LatencyStats__OutputDirectory"] = Path.Combine(bench.TemporaryFolder, "Stats"),
        };
        ChildProcess process = bench.Children.Start(
            bench.Pinning.On(candidate.Cores ?? bench.Pinning.Server, candidate.Command),
            bench.TemporaryFolder,
            environment,
            line =>
            {
                Volatile.Write(ref lastLine, line);
                if (ListeningLine.Read(line) is { } endpoint)
                {
                    listening.TrySetResult(endpoint);
                }
            });
        try
        {
            Task ended = process.WaitForExitAsync(cancellation);
            Task first = await Task.WhenAny(listening.Task, ended).WaitAsync(StartTimeout, cancellation);
            if (first != listening.Task)
            {
                await ended;
                throw new ComparisonException(
                    Describe(candidate, $"ended with exit code {process.ExitCode} before it said where it listens", process, lastLine));
            }

            return new ServerProcess(candidate, process, await listening.Task);
        }
        catch (TimeoutException exception)
        {
            string message = Describe(
                candidate, $"did not say where it listens within {StartTimeout.TotalSeconds:0} s", process, Volatile.Read(ref lastLine));
            process.Dispose();
            throw new ComparisonException(message, exception);
        }
        catch
        {
            process.Dispose();
            throw;
        }
    }

    /// <summary>The last lines the server wrote to standard error.</summary>
    public string Errors() => _process.Errors();

    public void Dispose() => _process.Dispose();

    private static string Describe(Candidate candidate, string what, ChildProcess process, string? lastLine)
    {
        string errors = process.Errors();
        string said = errors.Length > 0 ? errors : lastLine ?? "nothing";
        return $"{candidate.Name} {what}; it said: {said}";
    }
}
