using System.Collections.Concurrent;
using System.Text.Json;
using FastPort.Redis.Members;
using FastPort.Redis.Relaying;
using FastPort.Redis.Wire;
using FastPort.Routing;

namespace FastPort.Redis.Peers;

/// <summary>Asks other nodes about their sessions, and answers their questions about this node's. Thread-safe.</summary>
internal sealed class PeerQuestions(RelayTransport transport, Membership members, IPeers local, string node, TimeProvider time)
{
    /// <summary>Sessions in one answer.</summary>
    public const int LargestPage = 1000;

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(2);

    private readonly ConcurrentDictionary<long, TaskCompletionSource<PeerInfo[]>> _waiting = new();
    private long _lastCorrelation;

    /// <summary>
    /// Asks a node. Null if this node has no lease, the other one does not read its batches, or there is no answer within two seconds: the
    /// node was not reached, or the answer was lost, so a session may have been closed as requested.
    /// </summary>
    public async Task<PeerInfo[]?> AskAsync(ulong instance, PeerQuestion question, CancellationToken cancellationToken)
    {
        if (!members.HasLease || transport.LinkTo(instance) is not { IsCompatible: true } link)
        {
            // The other node would ignore it.
            return null;
        }

        long correlation = Interlocked.Increment(ref _lastCorrelation);
        var answer = new TaskCompletionSource<PeerInfo[]>(TaskCreationOptions.RunContinuationsAsynchronously);
        _waiting[correlation] = answer;
        try
        {
            link.Tell(
                EntryKind.PeerQuestion, correlation, JsonSerializer.SerializeToUtf8Bytes(question, PeerJson.Default.PeerQuestion));
            return await answer.Task.WaitAsync(Patience, time, cancellationToken).ConfigureAwait(false);
        }
        catch (TimeoutException)
        {
            return null;
        }
        finally
        {
            _waiting.TryRemove(correlation, out _);
        }
    }

    /// <summary>Handles another node's question; false if it is not understood. Only for the thread that receives batches.</summary>
    public bool TryReceive(NodeLink sender, long correlation, ReadOnlySpan<byte> json)
    {
        try
        {
            if (JsonSerializer.Deserialize(json, PeerJson.Default.PeerQuestion)
                is not { Id: not null, After: not null, Reason: not null } question)
            {
                return false;
            }

            // Fire and forget: the default directory of sessions does not fail, and batches do not wait for it.
            if (question.Action == PeerAction.List)
            {
                sender.Listing = ListAfterAsync(sender.Listing, sender, correlation, question);
            }
            else
            {
                _ = AnswerAsync(sender, correlation, question);
            }

            return true;
        }
        catch (JsonException)
        {
            return false;
        }
    }

    /// <summary>Handles an answer; false if it is not understood. An answer that is no longer awaited is ignored.</summary>
    public bool TryComplete(long correlation, ReadOnlySpan<byte> json)
    {
        try
        {
            if (_waiting.TryGetValue(correlation, out TaskCompletionSource<PeerInfo[]>? answer))
            {
                PeerInfo[]? peers = JsonSerializer.Deserialize(json, PeerJson.Default.PeerInfoArray);
                if (peers is null || peers.Any(static one => one?.RoutingId is null || one.ClientName is null || one.Node is null))
                {
                    return false;
                }

                answer.TrySetResult(peers);
            }

            return true;
        }
        catch (JsonException)
        {
            return false;
        }
    }

    // One at a time for each node, no matter how many of its sessions ask: lists are long, and cross one channel.
    private async Task ListAfterAsync(Task before, NodeLink sender, long correlation, PeerQuestion question)
    {
        long asked = time.GetTimestamp();
        await before.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ForceYielding);
        if (time.GetElapsedTime(asked) < Patience)
        {
            await AnswerAsync(sender, correlation, question).ConfigureAwait(false);
        }
    }

    private async Task AnswerAsync(NodeLink sender, long correlation, PeerQuestion question)
    {
        // Visiting many sessions takes long.
        await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        IReadOnlyList<PeerInfo> peers;
        if (question.Action == PeerAction.List)
        {
            int limit = Math.Clamp(question.Limit, 1, LargestPage);
            peers = await local.ListAsync(question.Id, limit, question.After, CancellationToken.None).ConfigureAwait(false);
        }
        else
        {
            PeerInfo? found = await local.FindAsync(question.Id, CancellationToken.None).ConfigureAwait(false);
            bool isThere = found is not null;
            if (isThere && question.Action == PeerAction.Kick)
            {
                isThere = await local.KickAsync(question.Id, (ErrorCode)question.Code, question.Reason, CancellationToken.None)
                    .ConfigureAwait(false);
            }

            peers = isThere ? [found!] : [];
        }

        PeerInfo[] named = [.. peers.Select(one => one with { Node = node })];
        sender.Tell(EntryKind.PeerAnswer, correlation, JsonSerializer.SerializeToUtf8Bytes(named, PeerJson.Default.PeerInfoArray));
    }
}
