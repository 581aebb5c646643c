using FastPort.Protocol.Tools.Contracts;

namespace FastPort.Protocol.Tools.Generation;

/// <summary>Writes a service's client and the client's interface.</summary>
internal static class ClientWriter
{
    public static void Write(CodeWriter code, ContractService service, string access)
    {
        WriteInterface(code, service, access);
        WriteClient(code, service, access);
    }

    private static void WriteInterface(CodeWriter code, ContractService service, string access)
    {
        code.Line();
        code.Lines(Documentation.Summary(service.Source.Comment, $"Service {service.FullName}."));
        code.Line("/// <remarks>A test's substitute implements the members that the test uses; the others throw.</remarks>");
        WriteObsolete(code, service.Source.IsDeprecated, service.FullName);
        code.Line($"{access} interface {service.Interface}");
        code.Open();
        foreach (ContractMethod method in service.Methods)
        {
            if (method != service.Methods[0])
            {
                code.Line();
            }

            WriteDocumentation(code, method);
            WriteObsolete(code, method.Source.IsDeprecated, method.FullName);
            WriteSignature(code, method, "");
            code.Continue(
                "throw new global::System.NotSupportedException("
                + $"\"This substitute of {service.Interface} does not implement {method.Name}Async.\");");
        }

        code.Close();
    }

    private static void WriteClient(CodeWriter code, ContractService service, string access)
    {
        code.Line();
        code.Lines(Documentation.Summary(service.Source.Comment, $"Service {service.FullName}."));
        code.Line("/// <remarks>Calls the server of a client, or the peer of a session. Thread-safe.</remarks>");
        WriteObsolete(code, service.Source.IsDeprecated, service.FullName);
        code.Line($"{access} sealed class {service.Client} : {service.Interface}");
        code.Open();
        code.Line("private readonly global::FastPort.Protocol.ServicePeer _peer;");
        code.Line();
        code.Line("/// <summary>Calls the server of a client.</summary>");
        code.Line("/// <param name=\"client\">The client; it stays the caller's to dispose.</param>");
        code.Line($"public {service.Client}(global::FastPort.IFastPortClient client) => _peer = new(client);");
        code.Line();
        code.Line("/// <summary>Calls the peer of a session, for example from a server to its client.</summary>");
        code.Line("/// <param name=\"session\">The session.</param>");
        code.Line($"public {service.Client}(global::FastPort.Session session) => _peer = new(session);");
        code.Line();
        code.Line("/// <summary>Calls a peer, for example through interceptors.</summary>");
        code.Line("/// <param name=\"peer\">The peer.</param>");
        code.Line($"public {service.Client}(global::FastPort.Protocol.ServicePeer peer) => _peer = peer;");
        foreach (ContractMethod method in service.Methods)
        {
            code.Line();
            code.Line("/// <inheritdoc/>");
            WriteObsolete(code, method.Source.IsDeprecated, method.FullName);
            WriteSignature(code, method, "public ");
            code.Continue($"_peer.{Call(method)};");
        }

        code.Close();
    }

    private static void WriteDocumentation(CodeWriter code, ContractMethod method)
    {
        code.Lines(Documentation.Summary(method.Source.Comment, $"Calls {method.FullName}."));
        if (method.HasRequestStream)
        {
            code.Line("/// <param name=\"requests\">The requests, enumerated on the thread pool as the peer reads them.</param>");
        }
        else
        {
            string until = method.HasReplyStream ? "the first reply has come" : "the task ends";
            code.Line($"/// <param name=\"request\">The request; do not change it until {until}.</param>");
        }

        code.Line("/// <param name=\"timeout\">");
        string covered = method.HasReplyStream ? "to the first reply" : "for the whole call";
        code.Line(
            $"/// Time {covered}; zero for no limit. Defaults to the client's request timeout; with a session to 30 s.");
        code.Line("/// </param>");
        if (method.HasReplyStream)
        {
            code.Line("/// <param name=\"wholeTimeout\">Time for the whole call; zero for no limit. Defaults to no limit.</param>");
        }

        code.Line("/// <param name=\"cancellationToken\">Cancels the call; the peer receives Cancel.</param>");
        if (method.HasReplyStream)
        {
            code.Line("/// <returns>");
            code.Line(
                "/// The replies. Enumerate them once: the call begins with the first one that is asked for, and ends with the "
                + "enumeration. It");
            code.Line("/// throws <see cref=\"global::FastPort.RequestFailedException\"/> if the call fails.");
            code.Line("/// </returns>");
        }
        else
        {
            code.Line(
                "/// <exception cref=\"global::FastPort.RequestFailedException\">The peer answered with an error, or no reply came."
                + "</exception>");
        }
    }

    private static void WriteSignature(CodeWriter code, ContractMethod method, string modifiers)
    {
        string result = method.HasReplyStream
            ? $"global::System.Collections.Generic.IAsyncEnumerable<{method.Reply}>"
            : $"global::System.Threading.Tasks.Task<{method.Reply}>";
        code.Line($"{modifiers}{result} {method.Name}Async(");
        code.Continue(
        [
            method.RequestParameter + ",",
            "global::System.TimeSpan? timeout = null,",
            .. method.HasReplyStream ? (string[])["global::System.TimeSpan? wholeTimeout = null,"] : [],
            "global::System.Threading.CancellationToken cancellationToken = default) =>",
        ]);
    }

    private static string Call(ContractMethod method)
    {
        string descriptor = $"{method.Service.Descriptors}.{method.Name}";
        return method.Kind switch
        {
            MethodKind.ServerStream => $"StreamAsync({descriptor}, request, timeout, wholeTimeout, cancellationToken)",
            MethodKind.ClientStream => $"SendStreamAsync({descriptor}, requests, timeout, cancellationToken)",
            MethodKind.Duplex => $"ExchangeAsync({descriptor}, requests, timeout, wholeTimeout, cancellationToken)",
            _ => $"CallAsync({descriptor}, request, timeout, cancellationToken)",
        };
    }

    private static void WriteObsolete(CodeWriter code, bool isDeprecated, string name)
    {
        if (isDeprecated)
        {
            code.Line($"[global::System.Obsolete(\"{name} is deprecated.\")]");
        }
    }
}
