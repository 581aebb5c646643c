using FastPort.Connections;

namespace FastPort.Clients;

/// <summary>The source of a client's tokens. Used by the task that connects.</summary>
internal sealed class TokenSource(FastPortClientOptions options, ConnectionClock clock)
{
    /// <summary>Whether there is one token for good.</summary>
    public bool IsFixed => options.TokenProvider is null && options.TokenFile.Length == 0;

    /// <summary>The next step of a client whose token was refused: a sentence for the log.</summary>
    public string Next => options.TokenProvider is not null ? "The client reconnects when its TokenProvider returns another token."
        : options.TokenFile.Length != 0 ? $"The client reconnects when {options.TokenFile} has another token."
        : "The client stops; set the right Token, or a TokenFile or TokenProvider that can give another.";

    /// <summary>The token for the next Hello; empty for none.</summary>
    /// <exception cref="TimeoutException">There was none within <see cref="ClientOptions.ConnectTimeout"/>.</exception>
    public async ValueTask<string> GetAsync(CancellationToken cancellationToken)
    {
        if (IsFixed)
        {
            return options.Token;
        }

        var deadline = new CancellationTokenSource();
        using var timer = new Deadline(deadline, options.ConnectTimeout, clock);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, deadline.Token);
        try
        {
            // The wait ends with the token, even if the provider ignores it.
            return await AskAsync(either.Token).AsTask().WaitAsync(either.Token).ConfigureAwait(false);
        }
        catch (OperationCanceledException e) when (deadline.IsCancellationRequested && !cancellationToken.IsCancellationRequested)
        {
            string source = options.TokenProvider is null ? options.TokenFile : "The TokenProvider";
            throw new TimeoutException($"{source} gave no token within {options.ConnectTimeout.TotalSeconds:0.###} s.", e);
        }
    }

    private async ValueTask<string> AskAsync(CancellationToken cancellationToken) => options.TokenProvider is { } provider
        ? await provider(cancellationToken).ConfigureAwait(false) ?? string.Empty
        : (await File.ReadAllTextAsync(options.TokenFile, cancellationToken).ConfigureAwait(false)).Trim();
}
