using System.Threading.Channels;

namespace FastPort.Comparisons.Processes;

/// <summary>A child process that is asked by lines and answers in lines; disposing it ends it.</summary>
internal sealed class Conversation : IDisposable
{
    private static readonly TimeSpan ReadyLimit = TimeSpan.FromSeconds(30);

    // What a run may take beyond its time: what is still under way.
    private static readonly TimeSpan RunGrace = TimeSpan.FromSeconds(60);

    private readonly string _name;
    private readonly ChildProcess _process;
    private readonly Channel<string> _lines = Channel.CreateUnbounded<string>();

    private readonly TaskCompletionSource _ended = new(TaskCreationOptions.RunContinuationsAsynchronously);

    private string _last = "nothing";

    private Conversation(string name, Func<Action<string>, ChildProcess> start)
    {
        _name = name;
        _process = start(line => _lines.Writer.TryWrite(line));
    }

    public int Id => _process.Id;

    /// <summary>Starts a process.</summary>
    /// <param name="name">What messages call it.</param>
    /// <param name="command">Executable and arguments, pinned or not.</param>
    /// <param name="bench">Where it belongs.</param>
    /// <param name="environment">Variables beside the present ones. Defaults to none.</param>
    public static Conversation Start(
        string name, IReadOnlyList<string> command, Workbench bench, IReadOnlyDictionary<string, string>? environment = null)
    {
        var conversation = new Conversation(name, onOutput => bench.Children.Start(command, bench.TemporaryFolder, environment, onOutput));
        _ = conversation.EndLinesAsync();
        return conversation;
    }

    /// <summary>Starts a process that says "ready" when it is.</summary>
    /// <param name="name">What messages call it.</param>
    /// <param name="command">Executable and arguments, pinned or not.</param>
    /// <param name="bench">Where it belongs.</param>
    /// <param name="cancellation">Gives up.</param>
    /// <exception cref="ComparisonException">It has ended, said something else, or said nothing in time.</exception>
    public static async Task<Conversation> StartReadyAsync(
        string name, IReadOnlyList<string> command, Workbench bench, CancellationToken cancellation)
    {
        var conversation = Start(name, command, bench);
        try
        {
            string line = await conversation.HearAsync(ReadyLimit, cancellation);
            return line == "ready" ? conversation : throw new ComparisonException($"{name} said '{line}' instead of 'ready'");
        }
        catch
        {
            conversation.Dispose();
            throw;
        }
    }

    /// <summary>Completes when the process has ended.</summary>
    public Task Ended => _ended.Task;

    public Task SayAsync(string line) => _process.WriteLineAsync(line);

    /// <summary>Asks for a run.</summary>
    /// <param name="leadIn">Seconds of load that are not measured.</param>
    /// <param name="seconds">Measured seconds.</param>
    /// <param name="cancellation">Gives up.</param>
    public async Task<LoadResult> RunAsync(double leadIn, double seconds, CancellationToken cancellation)
    {
        await SayAsync($"run {Invariant.Text(leadIn)} {Invariant.Text(seconds)}");
        return LoadResult.Read(await HearAsync(TimeSpan.FromSeconds(leadIn + seconds) + RunGrace, cancellation));
    }

    /// <summary>Tells the process to end and waits for it.</summary>
    /// <returns>Its exit code.</returns>
    public async Task<int> EndAsync(TimeSpan limit, CancellationToken cancellation)
    {
        _process.CloseInput();
        try
        {
            await _process.WaitForExitAsync(cancellation).WaitAsync(limit, cancellation);
        }
        catch (TimeoutException exception)
        {
            throw new ComparisonException($"{_name} did not end within {limit.TotalSeconds:0} s", exception);
        }

        return _process.ExitCode;
    }

    /// <summary>The next line.</summary>
    /// <exception cref="ComparisonException">The process has ended, or said nothing in time.</exception>
    public async Task<string> HearAsync(TimeSpan limit, CancellationToken cancellation)
    {
        try
        {
            return _last = await _lines.Reader.ReadAsync(cancellation).AsTask().WaitAsync(limit, cancellation);
        }
        catch (TimeoutException exception)
        {
            throw new ComparisonException(
                $"{_name} said nothing within {limit.TotalSeconds:0} s; before, it said: {Said()}", exception);
        }
        catch (ChannelClosedException exception)
        {
            throw new ComparisonException($"{_name} ended with exit code {_process.ExitCode}; it said: {Said()}", exception);
        }
    }

    /// <summary>Every line until the process ends.</summary>
    public IAsyncEnumerable<string> HearAllAsync(CancellationToken cancellation) => _lines.Reader.ReadAllAsync(cancellation);

    /// <summary>The last lines the process wrote to standard error.</summary>
    public string Errors() => _process.Errors();

    public void Dispose() => _process.Dispose();

    // A program that logs to standard output says there why it cannot start.
    private string Said() => Errors() is { Length: > 0 } errors ? errors : _last;

    private async Task EndLinesAsync()
    {
        try
        {
            await _process.WaitForExitAsync(CancellationToken.None);
        }
        catch (InvalidOperationException)
        {
            // It was ended and forgotten meanwhile.
        }

        _lines.Writer.TryComplete();
        _ended.TrySetResult();
    }
}
