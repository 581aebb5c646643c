using System.Globalization;
using FastPort.Protocol;
using Google.Protobuf;

namespace FastPort.Samples.Tests.Snippets;

/// <summary>Client code shown in docs/client.md.</summary>
internal static class ClientSnippets
{
    // docs: client
    public static async Task<string> AskAsync(string endpoint, string question)
    {
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = endpoint });
        await client.ConnectAsync();
        Echo reply = await client.RequestAsync(
            HandlerSnippets.Shout, new Echo { Payload = ByteString.CopyFromUtf8(question) }, Echo.Parser, timeout: TimeSpan.FromSeconds(5));
        return reply.Payload.ToStringUtf8();
    }

    // docs: end

    // docs: failures
    public static async Task<string> TryAskAsync(IFastPortClient client, Echo question, CancellationToken cancellationToken)
    {
        try
        {
            Echo reply = await client.RequestAsync(HandlerSnippets.Shout, question, Echo.Parser, cancellationToken: cancellationToken);
            return reply.Payload.ToStringUtf8();
        }
        catch (RequestFailedException e) when (e.Failure == RequestFailure.ConnectionLost)
        {
            return "it may have run, or not";
        }
        catch (RequestFailedException e) when (e.Failure == RequestFailure.TimedOut)
        {
            return "no reply in time";
        }
        catch (RequestFailedException e) when (e.Failure is null)
        {
            return string.Create(CultureInfo.InvariantCulture, $"the server said {e.Code}");
        }
    }

    // docs: end

    // docs: push
    public static FastPortClient WithPushes(string endpoint, Action<string> onPush)
    {
        MessageHandlers pushes = new MessageHandlers()
            .MapInline(0x1010, Echo.Parser, (echo, session) => onPush(echo.Payload.ToStringUtf8()));
        var client = new FastPortClient(new FastPortClientOptions { Endpoint = endpoint }, pushes);
        client.Connected += session => session.TrySend(0x1011, new Echo { Payload = ByteString.CopyFromUtf8("subscribe") });
        return client;
    }

    // docs: end
}
