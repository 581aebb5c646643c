using System.Diagnostics.CodeAnalysis;
using Google.Protobuf;
using Google.Protobuf.WellKnownTypes;

namespace FastPort.Protocol;

/// <summary>Details of errors as messages, which programs read where people read the error's sentence.</summary>
public static class ErrorDetails
{
    /// <summary>
    /// A copy of the refusal with a detail. It is sent if the requester's version knows details and the frame limit allows it.
    /// </summary>
    /// <param name="refusal">The refusal.</param>
    /// <param name="detail">The detail; encoded now.</param>
    public static RequestRefusedException WithDetail(this RequestRefusedException refusal, IMessage detail)
    {
        ArgumentNullException.ThrowIfNull(refusal);
        ArgumentNullException.ThrowIfNull(detail);
        return new RequestRefusedException(refusal.Code, refusal.Message, Any.Pack(detail).ToByteArray());
    }

    /// <summary>Reads the detail of an error reply; false if it has none of this message.</summary>
    /// <typeparam name="TDetail">The message.</typeparam>
    /// <param name="failure">The failure of the call.</param>
    /// <param name="detail">The detail.</param>
    public static bool TryGetDetail<TDetail>(this RequestFailedException failure, [NotNullWhen(true)] out TDetail? detail)
        where TDetail : class, IMessage<TDetail>, new()
    {
        ArgumentNullException.ThrowIfNull(failure);
        detail = null;
        if (failure.Detail.IsEmpty)
        {
            return false;
        }

        try
        {
            return Any.Parser.ParseFrom(failure.Detail.Span).TryUnpack(out detail);
        }
        catch (InvalidProtocolBufferException)
        {
            return false;
        }
    }
}
