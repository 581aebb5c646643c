using FastPort.Client.Reports;
using FastPort.Programs;
using FastPort.Protocol;
using Google.Protobuf.WellKnownTypes;
using Spectre.Console;
using Spectre.Console.Rendering;

namespace FastPort.Client.Top;

/// <summary>Runs <c>top</c>: asks the server at every interval and shows what happened since.</summary>
/// <param name="settings">The command line.</param>
/// <param name="console">A terminal is written over; anything else gets one text after the other.</param>
/// <param name="time">The clock.</param>
internal sealed class TopRun(TopSettings settings, IAnsiConsole console, TimeProvider time)
{
    private static readonly TimeSpan AnswerTimeout = TimeSpan.FromSeconds(5);

    /// <summary>Shows the figures until the count is reached or the token is canceled; returns the exit code.</summary>
    /// <exception cref="TopFailedException">The server cannot be reached, or does not allow it.</exception>
    public async Task<int> RunAsync(CancellationToken cancellationToken)
    {
        var options = new FastPortClientOptions
        {
            Endpoint = settings.Endpoint,
            TokenFile = settings.TokenFile,
            ClientName = "top",
            RequestTimeout = AnswerTimeout,
        };
        settings.Access.ApplyTo(options);
        await using var client = new FastPortClient(options);
        try
        {
            await client.ConnectAsync(cancellationToken).ConfigureAwait(false);
            ServerStatus first = await AskAsync(client, cancellationToken).ConfigureAwait(false);
            if (console.Profile.Capabilities.Ansi)
            {
                await console.Live(new Text("waiting for the first interval")).AutoClear(false)
                    .StartAsync(live => WatchAsync(client, first, live.UpdateTarget, cancellationToken)).ConfigureAwait(false);
            }
            else
            {
                await WatchAsync(client, first, console.Write, cancellationToken).ConfigureAwait(false);
            }
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            // Ctrl+C is how it ends.
        }
        catch (EndpointException e)
        {
            throw new TopFailedException(e.Message, e);
        }
        catch (RequestFailedException e)
        {
            throw new TopFailedException($"{settings.Endpoint}: {e.Message}", e);
        }

        return ExitCode.Good;
    }

    private static Task<ServerStatus> AskAsync(FastPortClient client, CancellationToken cancellationToken) =>
        client.RequestAsync(DiagnosticType.Status, new Empty(), ServerStatus.Parser, cancellationToken: cancellationToken);

    private async Task WatchAsync(
        FastPortClient client, ServerStatus before, Action<IRenderable> show, CancellationToken cancellationToken)
    {
        var view = new TopView(settings.Endpoint, settings.Sort);
        using var timer = new PeriodicTimer(settings.Interval, time);
        for (int look = 0; look != settings.Count; look++)
        {
            await timer.WaitForNextTickAsync(cancellationToken).ConfigureAwait(false);
            try
            {
                ServerStatus now = await AskAsync(client, cancellationToken).ConfigureAwait(false);

                // The current sizes: a terminal may have been resized. The line of the cursor is below the figures.
                Profile terminal = console.Profile;
                show(view.Of(
                    TopFigures.Between(before, now),
                    terminal.Width,
                    terminal.Capabilities.Ansi ? terminal.Height - 1 : int.MaxValue));
                before = now;
            }
            catch (RequestFailedException e)
            {
                // The client reconnects automatically.
                show(view.Of(e.Message));
            }
        }
    }
}

/// <summary>The figures cannot be shown. The message may contain texts of the server.</summary>
internal sealed class TopFailedException(string message, Exception inner) : ProgramFailedException(
    SafeText.Message(message), Programs.ExitCode.Failed, inner);
