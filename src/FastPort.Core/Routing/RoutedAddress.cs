using System.Buffers;
using System.Text;
using System.Text.Unicode;
using FastPort.Sessions;

namespace FastPort.Routing;

/// <summary>
/// Reads the topic or target of a routing message for the authorizer; false for a message that the type's handler refuses itself.
/// </summary>
internal sealed class RoutedAddress(int maxTopicBytes)
{
    public static bool TryReadTarget(in ReadOnlySequence<byte> body, ref AuthorizationRequest request)
    {
        bool read = TryReadAddress(body, RoutingIdLimits.MaxBytes, out string? target);
        request = request with { Target = target };
        return read;
    }

    public bool TryReadTopic(in ReadOnlySequence<byte> body, ref AuthorizationRequest request)
    {
        bool read = TryReadAddress(body, maxTopicBytes, out string? topic);
        request = request with { Topic = topic };
        return read;
    }

    public bool TryReadPrefix(in ReadOnlySequence<byte> body, ref AuthorizationRequest request)
    {
        if (!TopicBody.TryRead(body.IsSingleSegment ? body.FirstSpan : body.ToArray(), out ReadOnlySpan<byte> prefix)
            || prefix.Length > maxTopicBytes)
        {
            return false;
        }

        request = request with { Topic = Encoding.UTF8.GetString(prefix) };
        return true;
    }

    private static bool TryReadAddress(in ReadOnlySequence<byte> body, int maxBytes, out string? address)
    {
        address = null;
        if (!RoutedEnvelope.TryRead(body, out RoutedEnvelope envelope) || envelope.Address.Length > maxBytes)
        {
            return false;
        }

        ReadOnlySpan<byte> utf8 = envelope.Address.IsSingleSegment ? envelope.Address.FirstSpan : envelope.Address.ToArray();
        if (!Utf8.IsValid(utf8))
        {
            return false;
        }

        address = Encoding.UTF8.GetString(utf8);
        return true;
    }
}
