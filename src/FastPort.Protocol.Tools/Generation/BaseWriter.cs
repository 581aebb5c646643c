using FastPort.Protocol.Tools.Contracts;

namespace FastPort.Protocol.Tools.Generation;

/// <summary>
/// Writes the base class of a service. Its methods are not marked as deprecated: a server must still override them, without a warning.
/// </summary>
internal static class BaseWriter
{
    public static void Write(CodeWriter code, ContractService service, string access)
    {
        code.Line();
        code.Lines(Documentation.Summary(service.Source.Comment, $"Service {service.FullName}."));
        code.Line("/// <remarks>");
        code.Line("/// Derive from it and override the methods. The others are answered with UnknownType, as by a peer that lacks them.");
        code.Line("/// </remarks>");
        code.Line($"{access} abstract class {service.Base} : global::FastPort.Protocol.IMessageService");
        code.Open();
        foreach (ContractMethod method in service.Methods)
        {
            WriteMethod(code, method);
            code.Line();
        }

        code.Line("static void global::FastPort.Protocol.IMessageService.MapMethods(global::FastPort.Protocol.ServiceMap map)");
        code.Open();
        foreach (ContractMethod method in service.Methods)
        {
            WriteMapping(code, method);
        }

        code.Close();
        code.Close();
    }

    private static void WriteMethod(CodeWriter code, ContractMethod method)
    {
        code.Lines(Documentation.Summary(method.Source.Comment, $"Serves {method.FullName}."));
        code.Line(method.HasRequestStream
            ? "/// <param name=\"requests\">The requests. Enumerate them once; the caller sends as the method reads.</param>"
            : "/// <param name=\"request\">The request; the method may keep it.</param>");
        if (method.Kind != MethodKind.Unary)
        {
            WriteStreamSignature(code, method);
        }
        else if (method.Run == MethodRun.Inline)
        {
            code.Line("/// <param name=\"session\">The session. The method runs on its loop and must not block.</param>");
            code.Line($"public virtual {method.Reply} {method.Name}(");
            code.Continue($"{method.Request} request, global::FastPort.Session session) =>");
        }
        else
        {
            code.Line("/// <param name=\"context\">Session and cancellation token; valid until the returned task ends.</param>");
            if (method.Run == MethodRun.BeginsOnLoop)
            {
                code.Line("/// <remarks>It may begin on the session's loop, and must not block before its first await.</remarks>");
            }

            code.Line($"public virtual global::System.Threading.Tasks.ValueTask<{method.Reply}> {method.Name}Async(");
            code.Continue($"{method.Request} request, global::FastPort.RequestContext context) =>");
        }

        code.Continue($"throw {method.Service.Descriptors}.{method.Name}.NotImplemented();");
    }

    private static void WriteStreamSignature(CodeWriter code, ContractMethod method)
    {
        code.Line("/// <param name=\"context\">The session and the call.</param>");
        code.Line("/// <param name=\"cancellationToken\">Canceled when the call ends before the method.</param>");
        if (method.HasReplyStream)
        {
            code.Line("/// <returns>The replies, which are sent as the caller reads them.</returns>");
        }

        string result = method.HasReplyStream
            ? $"global::System.Collections.Generic.IAsyncEnumerable<{method.Reply}>"
            : $"global::System.Threading.Tasks.ValueTask<{method.Reply}>";
        code.Line($"public virtual {result} {method.Name}Async(");
        code.Continue(
            $"{method.RequestParameter},",
            "global::FastPort.StreamContext context,",
            "global::System.Threading.CancellationToken cancellationToken) =>");
    }

    private static void WriteMapping(CodeWriter code, ContractMethod method)
    {
        string arguments = $"<{method.Service.Base}, {method.Request}, {method.Reply}>";
        string descriptor = $"{method.Service.Descriptors}.{method.Name}";
        if (method.Kind != MethodKind.Unary)
        {
            code.Line($"map.Map{method.Kind}{arguments}(");
            code.Continue(
                $"{descriptor}, static (service, request, context, canceled) => service.{method.Name}Async(request, context, canceled));");
        }
        else if (method.Run == MethodRun.Inline)
        {
            code.Line($"map.MapInline{arguments}(");
            code.Continue($"{descriptor}, static (service, request, session) => service.{method.Name}(request, session));");
        }
        else
        {
            string begins = method.Run == MethodRun.BeginsOnLoop ? ", beginsOnLoop: true" : "";
            code.Line($"map.MapQueued{arguments}(");
            code.Continue($"{descriptor}, static (service, request, context) => service.{method.Name}Async(request, context){begins});");
        }
    }
}
